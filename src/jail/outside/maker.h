#pragma once

#include "jail/cgroup/cgroup.h"
#include "jail/outside/network.h"
#include "jail/outside/spawn.h"

#include <sys/types.h>

/*
 * jaild's end of the process that makes cells (jail/plan/maker.h): started when the first cell is
 * wanted, again when it has died, and replaced now and then, since what it makes shares its layout
 * in memory.
 */

/* The script's filter in parts (jail/outside/filter.h), as sealed memfds. */
struct maker_filters {
	int base_fd, rest_fd;
	uint32_t base_count, rest_count;
};

struct maker {
	int socket; /* -1: there is none */
	pid_t pid;
	int pidfd;
	unsigned cells; /* that it has made */
	int score;	/* that it has been given for when the host is out of memory */
};

/* What makers are started with. */
struct maker_base {
	struct spawn spawn;
	struct network own; /* jaild's namespaces */
	const struct maker_filters *filters;
};

struct maker_cell {
	int control_fd;		       /* becomes INIT_CONTROL_FD */
	const struct network *network; /* the session's */
	const struct cgroup_root *cgroups;
	struct cgroup_cell *cgroup; /* that it is born in */
};

/* Returns 0 or -errno; the descriptors are the caller's then. */
int maker_filters_make(struct maker_filters *ret_filters);

void maker_init(struct maker *maker);

/* Starts one ahead of the first cell. Returns 0 or -errno; then the first cell tries again. */
int maker_start(struct maker *maker, const struct maker_base *base);

/* Sees to it that there is one, and a new one when it has made its number. Before each maker_make.
 * Returns 0 or -errno. */
int maker_need(struct maker *maker, const struct maker_base *base);

/* The score that its cells inherit for when the host is out of memory (oom_score.h): given once, it
 * is a file less to open for each cell. Returns 0, also when the maker has just gone (maker_make
 * tells), or -errno. */
int maker_score(struct maker *maker, int proc_fd, int score);

/*
 * Makes a cell's process 1, a child of ours, which waits for its plan. It must be given its maps
 * first (jail/outside/idmap.h); /proc/PID of it is ours to write. A failure from then on arrives on
 * the control socket as INIT_FAILED. The descriptors stay
 * the caller's, who owns *ret_pidfd. Blocks while the maker works, for a second at most.
 *
 * Returns 0, -EUCLEAN when the network cannot serve again, -EPIPE when the maker died or hung and
 * was ended: somebody killed it, most likely for memory, and the next order has a new one. It may
 * have made the process all the same, which is then a child of ours in the cell's groups that
 * nobody knows and that holds control_fd: the caller hangs up on it, and gives neither to another
 * one. Or -errno.
 */
int maker_make(struct maker *maker, const struct maker_cell *cell, pid_t *ret_pid, int *ret_pidfd);
