#pragma once

#include "jail/plan/plan.h"

#include <linux/filter.h>

/* What init holds of its cell. */
struct cell {
	struct jail_plan plan;
	struct sock_filter filter[PLAN_FILTER_MAX];
	int landlock_fd;
};

/* Receives the plan (descriptor INIT_CONTROL_FD) and builds the cell around this process. Any
 * failure ends the process through wall(). */
void cell_build(struct cell *cell);
