#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Starts a program of ours with nothing of ours but what is named here. */

struct program_request {
	const char *program;	 /* a path */
	const char *const *argv; /* NULL-ended */
	int stdout_fd;		 /* becomes its stdout; -1: /dev/null */
	int socket_fd;		 /* becomes its descriptor 3; -1: none */
	bool has_own_session;	 /* signals of our terminal do not reach it */
};

/* Starts it with a fixed environment, stdin from /dev/null, our stderr, default signals and an
 * empty mask. Returns 0 with *ret_pid (the caller waits for it) or -errno, also of a failed exec.
 * posix_spawn(3) */
int program_start(const struct program_request *request, pid_t *ret_pid);
