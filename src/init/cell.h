#pragma once

#include "jail/plan/maker.h"
#include "jail/plan/plan.h"

#include <linux/filter.h>
#include <stdint.h>

/* What init holds of its cell. */
struct cell {
	char *name;	   /* argv[0], for a maker's cells (init/maker.h), */
	void (*run)(void); /* which begin here */
	struct jail_plan plan;
	/* what is left of the script's, read by the maker: in a mapping it would be copied, looked
	 * for and taken down with each cell */
	struct sock_filter filter[MAKER_REST_MAX];
	uint32_t filter_count;
	int landlock_fd;
	int filter_fd; /* the whole one, for interpreters that come to wait here */
	int warm_fd;   /* to an interpreter on its way or waiting, -1 */
};

/* Receives the plan (descriptor INIT_CONTROL_FD) and builds the cell around this process. Any
 * failure ends the process through wall(). What comes may also be the plan of a maker or
 * of a zygote: then it does not return. */
void cell_build(struct cell *cell);
