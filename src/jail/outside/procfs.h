#pragma once

#include <sys/types.h>

/* A /proc for the cell whose init has this pidfd: only the cell's own processes, and of each user
 * only his own (subset=pid, hidepid=2), read-only, detached; the caller closes *ret_fd. A
 * short-lived helper enters the cell's pid namespace for it (decision 8), before anything untrusted
 * runs there. Blocks for the life of the errand. Returns 0 or -errno. proc(5) */
int procfs_make(int init_pidfd, int *ret_fd);

/* jaild's own /proc, detached. */
int procfs_make_own(int *ret_fd);

/* The folder sys/user of a procfs of its own, for cells to write their limits of namespaces into
 * (jail/inside/namespaces.h). Where a whole /proc is visible; the caller closes. Returns 0 or
 * -errno. */
int procfs_limits_make(int *ret_fd);
