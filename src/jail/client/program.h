#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Starts a program of ours with nothing of ours but what is named here. */

#define PROGRAM_FDS_MAX	  4
#define PROGRAM_FDS_ABOVE 16 /* so that none is overwritten by another one's new number */

struct program_request {
	const char *program;	 /* a path */
	const char *const *argv; /* NULL-ended */
	int stdout_fd;		 /* becomes its stdout; -1: /dev/null */
	int socket_fd;		 /* becomes its descriptor 3; -1: none */
	const int *fds;		 /* become its descriptors from 4 on, with a socket; NULL: none */
	size_t n_fds; /* at most PROGRAM_FDS_MAX; each numbered PROGRAM_FDS_ABOVE or higher */
	bool has_own_session; /* signals of our terminal do not reach it */
};

/* Starts it with a fixed environment, stdin from /dev/null, our stderr, default signals and an
 * empty mask. Returns 0 with *ret_pid (the caller waits for it) or -errno, also of a failed exec.
 * posix_spawn(3) */
int program_start(const struct program_request *request, pid_t *ret_pid);
