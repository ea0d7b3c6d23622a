#pragma once

#include "jail/cgroup/cgroup.h"

#include <sys/types.h>

/*
 * The birth of a cell: process 1 of seven new namespaces, executing cloche-init.
 */

struct spawn {
	int init_fd;	    /* sealed memfd of cloche-init */
	int control_fd;	    /* becomes INIT_CONTROL_FD */
	int null_fd;	    /* /dev/null, becomes 0 to 2 */
	int template_ns_fd; /* mount namespace that the cell starts as a copy of */
	int own_ns_fd;	    /* mount namespace to come back to */
	int network_fd;	    /* the session's network namespace */
	int own_network_fd; /* to come back to */
	const struct cgroup_root *cgroups;
	const struct cgroup_cell *cgroup; /* that it is born in */
};

/*
 * Creates the process, which then executes cloche-init. Its ids are not mapped yet: init says
 * INIT_BORN on the control socket and waits for its plan; a failure before that arrives there as
 * INIT_FAILED. The descriptors stay the caller's; the caller owns *ret_pidfd. Returns 0, or -errno
 * of clone3(2) or setns(2).
 */
int spawn_init(const struct spawn *spawn, pid_t *ret_pid, int *ret_pidfd);

/*
 * Creates the process that becomes a zygote (jail/plan/zygote.h): in the pid, user and control
 * group namespaces and groups of jaild, in a mount namespace of the template, without capabilities.
 * It executes init_fd too, says INIT_BORN and waits for a zygote's plan. spawn->cgroup is not
 * looked at. Its pid will be `pid`, which must be free: not one that a copy of it can have in a
 * cell (random generators in libraries know a fork by its pid). The descriptors stay the caller's;
 * the caller owns *ret_pidfd. Returns 0 or -errno.
 */
int spawn_zygote(const struct spawn *spawn, pid_t pid, int *ret_pidfd);
