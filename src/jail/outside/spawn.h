#pragma once

#include <sys/types.h>

/*
 * The birth of the processes that execute cloche-init: makers and zygotes.
 */

struct spawn {
	int init_fd;	    /* sealed memfd of cloche-init */
	int control_fd;	    /* becomes INIT_CONTROL_FD */
	int null_fd;	    /* /dev/null, becomes 0 to 2 */
	int template_ns_fd; /* mount namespace that cells start as a copy of */
	int own_ns_fd;	    /* mount namespace to come back to */
	int leaf_fd;	    /* spawn_zygote: group of the v2 tree that it is born in, or -1 */
	int tasks_fd;	    /* and the file of a v1 group that it enters first of all, or -1 */
};

/*
 * Creates the process that becomes a maker (jail/plan/maker.h) at its plan: in the
 * namespaces and groups of jaild but for the mounts, which are the template's, with CAP_SYS_ADMIN
 * alone. The descriptors stay the caller's; the caller owns *ret_pidfd. Returns 0 or -errno.
 */
int spawn_maker(const struct spawn *spawn, pid_t *ret_pid, int *ret_pidfd);

/*
 * Creates the process that becomes a zygote (jail/plan/zygote.h): in the pid, user and control
 * group namespaces of jaild, in a mount namespace of the template, without capabilities.
 * It executes init_fd too and waits for a zygote's plan. Its pid will be `pid`, which must be free:
 * not one that a copy of it can have in a cell (random generators in libraries know a fork by its
 * pid). The descriptors stay the caller's; the caller owns *ret_pidfd. Returns 0 or -errno.
 */
int spawn_zygote(const struct spawn *spawn, pid_t pid, int *ret_pidfd);
