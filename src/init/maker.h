#pragma once

#include "init/cell.h"
#include "jail/plan/maker.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether a message of this size with so many descriptors is a maker's plan. */
bool maker_is_planned(const void *message, size_t size, size_t n_fds);

/*
 * Becomes a maker, and makes cells until jaild hangs up. cell->run is called in each cell's process
 * 1, with its control socket at INIT_CONTROL_FD, /dev/null on 0 to 2 and what landlock_hold holds,
 * and with cell->filter set. Takes fds over.
 */
__attribute__((noreturn)) void maker_become(
	const struct maker_plan *plan, int *fds, struct cell *cell);
