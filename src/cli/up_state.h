#pragma once

struct fault;

/*
 * The state directory of `cloche up`: lock, token (plain, 0600), tokens (hashes of others),
 * audit.log, supervisor.sock. What is in it is opened here and handed on.
 */
struct up_state {
	int dir_fd;
	int lock_fd; /* held as long as we live: one `up` for each directory */
	int audit_fd;
	int token_fd; /* a sealed memfd for CONTROL_TOKENS */
};

#define UP_STATE_INIT                                                                              \
	{                                                                                          \
		.dir_fd = -1, .lock_fd = -1, .audit_fd = -1, .token_fd = -1                        \
	}

/* Makes and opens the directory, which must be ours alone to write, and locks it; makes the token
 * if there is none. Returns 0, or -errno with *ret_fault. End it with up_state_close. */
int up_state_open(const char *path, struct up_state *ret_state, struct fault *ret_fault);
void up_state_close(struct up_state *state);

/* Opens audit.log anew, which may have been moved away, for CONTROL_AUDIT. On an error the old one
 * stays. */
int up_state_open_audit(struct up_state *state, struct fault *ret_fault);

/* Reads token and tokens again into a new token_fd. On an error the old one stays. */
int up_state_read_tokens(struct up_state *state, struct fault *ret_fault);
