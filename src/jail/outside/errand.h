#pragma once

#include <sys/types.h>

/*
 * A child of jaild's for one thing that has to happen in other namespaces: a plain copy with a
 * socket to jaild, which tells how it went and may bring a descriptor along.
 */

struct errand {
	pid_t pid;  /* 0 in the child */
	int socket; /* each side's own end */
};

/* Forks it; both sides come back. Returns 0 or -errno. */
int errand_start(struct errand *ret_errand);

/* For the child, or one of its own: tells the result (0 or -errno) and, with 0, hands over fd (-1:
 * none). */
void errand_tell(int socket, int result, int fd);

/* For jaild: waits for that word; -EPROTO if the child ends without one. The caller owns *ret_fd;
 * NULL where none is due. Returns the child's result. */
int errand_result(const struct errand *errand, int *ret_fd);

/* Hangs up and waits for its end. */
void errand_end(struct errand *errand);
