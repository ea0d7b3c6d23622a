#pragma once

#include "jail/plan/plan.h"

#include <linux/filter.h>

/* What init holds of its cell. */
struct cell {
	struct jail_plan plan;
	const struct sock_filter *filter; /* mapped */
	int landlock_fd;
	int filter_fd;
	int warm_fd; /* to an interpreter on its way or waiting, -1 */
};

/* Receives the plan (descriptor INIT_CONTROL_FD) and builds the cell around this process. Any
 * failure ends the process through wall(). */
void cell_build(struct cell *cell);
