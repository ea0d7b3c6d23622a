#pragma once

#include "jaild/cell.h"

/* Builds the cell around a waiting init: cgroup, clone, maps, plan. Returns false with
 * *ret_failure; then cell_destroy removes what there is. */
bool cell_build(struct cell *cell, struct failure *ret_failure);

/* Kills what lives in the cell, waits for it, and removes its group. Only for a cell in which no
 * script has been started, or that is dead: it may block for a moment. */
void cell_destroy(struct cell *cell);
