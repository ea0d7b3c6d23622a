#pragma once

#include "base/clock.h"
#include "cli/up_options.h"
#include "cli/up_state.h"
#include "wire/control.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fault;

/* What the files of `cloche up` share. */

/* A program that up has started. pid 0: none. */
struct up_child {
	pid_t pid;
	int pidfd;
	int socket; /* ours to it: jaild's until it is handed on, the supervisor's control; or -1 */
};

struct up {
	struct up_options options;
	struct up_state state;
	int listeners[CONTROL_LISTENERS_MAX];
	size_t n_listeners;
	char address[PATH_MAX + 32]; /* for the line that says ready */
	int signal_fd;
	bool ends_by_hangup; /* SIGHUP ends us: our terminal went, and no nohup(1) said otherwise */
	int inotify_fd;
	int image_fd; /* our share in the image, or -1 */
	int known_fd; /* memory of the supervisors', never looked at here */
	struct up_child jaild, supervisor;
	usec_t started_us;   /* of jaild, the last time */
	usec_t start_at_us;  /* of the next, while there is none */
	usec_t backoff_us;   /* between the last two */
	usec_t deadline_us;  /* of being ready, or of being gone; 0: none */
	bool has_been_ready; /* and said so */
	bool is_stopping;
	int status; /* of the end */
};

#define UP_BACKOFF_MIN_US (100 * USEC_PER_MS)  /* a crash is over at once, mostly */
#define UP_BACKOFF_MAX_US (10 * USEC_PER_S)    /* and else the log should not fill */
#define UP_STEADY_US	  (60 * USEC_PER_S)    /* a life so long forgets the backoff */
#define UP_READY_US	  (60 * USEC_PER_S)    /* for the first canary */
#define UP_STOP_US	  (4500 * USEC_PER_MS) /* 3 s of drain; all within 5 s is promised */

/* Starts jaild; its word that it is ready comes later, on jaild.socket. Returns 0, or -errno with
 * *ret_fault. */
int up_jaild_start(struct up *up, struct fault *ret_fault);

/* After that word: starts the supervisor unless it runs, and hands it jaild's socket. Returns 0, or
 * -errno with *ret_fault. */
int up_jaild_hand_on(struct up *up, struct fault *ret_fault);

/* Sends the tokens as they are now. */
int up_tokens_send(const struct up *up);

/* Sends the audit log as it is now. */
int up_audit_send(const struct up *up);

/* Waits for a child that has ended, and forgets it. */
void up_child_reap(struct up_child *child);

/* Watches everything until all has ended. Returns the exit status. */
int up_watch(struct up *up);
