#pragma once

#include "base/clock.h"

#include <stdbool.h>

/* Programs started by posix_spawn: the bare ones and the peers. */

/* Runs argv once and returns how long it took, from before the spawn until it has been waited for.
 * With has_pipes stdout and stderr are pipes that are read to their end first, as those of a cell
 * are; otherwise they are /dev/null. Returns 0, or -errno; -ECANCELED when it did not exit with 0.
 */
int spawned_run(char *const argv[], bool has_pipes, usec_t *ret_us);

/* Runs argv count times, width at a time, output to /dev/null; *ret_us is for all of them. */
int spawned_run_many(char *const argv[], unsigned width, unsigned count, usec_t *ret_us);
