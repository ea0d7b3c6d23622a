#pragma once

#include <stdint.h>

/*
 * What jaild and its maker say to each other. A maker is a cloche-init that makes cells: jaild asks
 * it for one, and it copies itself into new namespaces, where the copy goes on as the cell's init.
 * Nothing is executed for a cell, and the little that is copied is init's, not jaild's.
 */

#define MAKER_MAGIC 0x314b4d43u /* "CMK1" */

/* Names of a maker's process and of what it becomes in a cell; of one length, since the second is
 * written over the first. */
#define MAKER_NAME "cloche-make"
#define INIT_NAME  "cloche-init"

/* Instructions at most that are left for each cell's script. */
#define MAKER_REST_MAX 64

/* jaild to a cloche-init that is to become a maker: once, in the place of a cell's plan. */
struct maker_plan {
	uint32_t magic;
	uint32_t base_count; /* instructions */
	uint32_t rest_count;
	uint32_t reserved;
};

enum maker_plan_fd {
	MAKER_PLAN_NETWORK, /* jaild's own, to come back to, */
	MAKER_PLAN_IPC,	    /* likewise */
	MAKER_PLAN_BASE,    /* sealed memfds of the script's filter: what the maker and its cells */
	MAKER_PLAN_REST,    /* can do without, and what is left (jail/outside/filter.h) */
	MAKER_PLAN_FDS
};

/* The descriptors of an order; then come the cell's leaf in the v2 tree (has_leaf) and n_tasks
 * files that a 0 is to be written into (cgroup v1). */
enum maker_fd {
	MAKER_FD_CONTROL, /* becomes INIT_CONTROL_FD of the cell's init */
	MAKER_FD_NETWORK, /* the session's, which the cell is born in, */
	MAKER_FD_IPC,	  /* likewise */
	MAKER_FD_GROUPS
};

#define MAKER_TASKS_MAX 3
#define MAKER_FDS_MAX	(MAKER_FD_GROUPS + 1 + MAKER_TASKS_MAX)

/* jaild to the maker. */
struct maker_order {
	uint32_t magic;
	uint32_t has_leaf;
	uint32_t n_tasks;
	uint32_t reserved;
};

/* The maker to jaild, to each order. */
struct maker_answer {
	uint32_t magic;
	int32_t pid; /* of the cell's init, a child of jaild's; or -errno: -EUCLEAN when an earlier
		      * run has left something in the IPC namespace */
};
