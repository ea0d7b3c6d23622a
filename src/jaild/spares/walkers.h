#pragma once

#include "jaild/loop.h"
#include "walker/walker.h"

#include <stdbool.h>
#include <sys/types.h>

struct jaild;

/* A walker (walker/walker.h) that waits for a home, so that a listing does not wait for a fork. It
 * serves one listing and ends, as one that is made on demand does: nothing of a home that it has
 * read can come near another one. */

struct walkers {
	pid_t pid; /* 0: none waits */
	int pidfd;
	int fd; /* its socket */
	struct watch death;
	struct timer timer;
};

/* Begins one in a moment, behind the answers that are on their way, if none waits; or lets it end
 * when no spares are wanted: then no service is there whose clients would wait. */
void walkers_later(struct jaild *jaild);

/* Gives the home to the one that waits. Returns 0 with its pid and pidfd, the caller's, or -errno:
 * none is there. */
struct walkers_work {
	int home_fd;
	int listing_fd;
	struct walker_request request;
};
int walkers_take(
	struct jaild *jaild, const struct walkers_work *work, pid_t *ret_pid, int *ret_pidfd);

/* A plain fork (jaild is small) that comes with a pidfd. Returns 0 in the child, else its pid or
 * -errno. */
pid_t walkers_fork(int *ret_pidfd);
