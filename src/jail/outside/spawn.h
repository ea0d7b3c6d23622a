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
	int leaf_fd;	    /* group of the v2 tree that it is born in, or -1 */
	int tasks_fd;	    /* and the file of a v1 group that it enters first of all, or -1 */
};

/* SPAWN_MAKER becomes a maker (jail/plan/maker.h) at its plan: in the namespaces of jaild but for
 * the mounts, which are the template's, with CAP_SYS_ADMIN alone.
 * SPAWN_ZYGOTE becomes a zygote (jail/plan/zygote.h) at its plan: in the pid, user and control
 * group namespaces of jaild, in a mount namespace of the template, without capabilities. */
enum spawn_kind {
	SPAWN_MAKER,
	SPAWN_ZYGOTE
};

/*
 * Creates such a process, which executes init_fd. *pid is the one that it is to have, which must be
 * free, or 0 for any; then the one that it has. A zygote's is not one that a copy of it can have in
 * a cell: random generators in libraries know a fork by its pid. The descriptors stay the caller's;
 * the caller owns *ret_pidfd. Returns 0 or -errno (-EEXIST: the pid is not free). clone3(2)
 */
int spawn_init(const struct spawn *spawn, enum spawn_kind kind, pid_t *pid, int *ret_pidfd);
