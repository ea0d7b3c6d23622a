#pragma once

#include <sys/types.h>

struct fault;

/*
 * The state directory of `cloche up`: lock, token (plain, 0600), tokens (hashes of others),
 * audit.log, supervisor.sock, secret.key (0600) and store. What is in it is opened here and handed
 * on.
 */
struct up_state {
	int dir_fd;
	int lock_fd; /* held as long as we live: one `up` for each directory */
	int audit_fd;
	int token_fd; /* a sealed memfd for CONTROL_TOKENS */
	struct up_user {
		uid_t uid;
		gid_t gid;
	} user;	       /* whom the supervisor goes on as, if we are root; else us */
	int store_fd;  /* DIR/store: the supervisor's, and its alone */
	int secret_fd; /* a sealed memfd with DIR/secret.key */
};

#define UP_STATE_INIT                                                                              \
	{                                                                                          \
		.dir_fd = -1, .lock_fd = -1, .audit_fd = -1, .token_fd = -1, .store_fd = -1,       \
		.secret_fd = -1                                                                    \
	}

/* Makes and opens the directory, which must be ours alone to write, and locks it; makes the token
 * if there is none. Returns 0, or -errno with *ret_fault. End it with up_state_close. */
int up_state_open(const char *path, struct up_state *ret_state, struct fault *ret_fault);
void up_state_close(struct up_state *state);

/* Opens audit.log anew, which may have been moved away, for CONTROL_AUDIT. On an error the old one
 * stays. */
int up_state_open_audit(struct up_state *state, struct fault *ret_fault);

/* Whom the supervisor goes on as: we, unless we are root; then the user cloche, or an id that
 * nobody has. Returns 0, or -errno with *ret_fault, "CAUSE: REMEDY", if that id is somebody's. */
int up_user_find(struct up_user *ret_user, struct fault *ret_fault);

/* The part of up_state_open that is about kept sessions: makes and opens DIR/store, for the
 * supervisor's user, and DIR/secret.key, once. */
int up_store_open(struct up_state *state, struct fault *ret_fault);

/* Reads token and tokens again into a new token_fd. On an error the old one stays. */
int up_state_read_tokens(struct up_state *state, struct fault *ret_fault);
