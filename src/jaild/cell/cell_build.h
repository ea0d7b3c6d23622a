#pragma once

#include "jaild/cell/cell.h"

/* Makes the cell's process and hands it its plan. Returns false with *ret_failure; then
 * cell_destroy removes what there is. init says INIT_BORN when it has its ids, and goes on by
 * itself. */
bool cell_build(struct cell *cell, struct failure *ret_failure);

/* A word to init with n_fds descriptors, still the caller's. Returns 0 (also when init has gone:
 * its death is told by the loop) or -errno. */
int cell_build_send(
	const struct cell *cell, const void *data, size_t size, const int *fds, size_t n_fds);

/* Has an interpreter put into the waiting cell, if there is a zygote of the kind, the cell is such
 * that it may, and none of the kind is in it. Without one, init executes what it is to run. */
void cell_build_warm(struct cell *cell, enum wire_warm kind);

/* The script has started, as a copy or executed: counts that, if it could have been either. */
void cell_build_count(const struct cell *cell, bool is_copy);

/* Hands the run to init, whose descriptors are then closed here. Returns 0, also when init has gone
 * (its death is told by the loop), or -errno. */
int cell_build_run(struct cell *cell);

/* At rest, or behind a script that had to be stopped, a session has no network, and no group but
 * its own. Does nothing while it has a cell, or is to have a spare one. */
void cell_rest(struct session *session);

/* Kills what lives in the cell, waits for it, and removes its group. Only for a cell in which no
 * script has been started, or that is dead: it may block for a moment. */
void cell_destroy(struct cell *cell);
