#pragma once

#include <stdbool.h>

struct cell;
struct session;

/* Out of memory while a fresh run is under way beside a live interpreter that stands still. */

/* A fresh run begins: before it can take memory. */
void live_oom_begin(struct session *session);

/* The kernel kills for memory. False if there is no interpreter beside the run. Else it is looked
 * into: an interpreter that was hit is given up, and the run goes on; if it was the run,
 * cell_out_of_memory is called, at once or in a moment. */
bool live_oom_heed(struct session *session);

/* The run is over, or the interpreter: what the kernel has taken of the interpreter is not the
 * run's. Before cgroup_run_end. */
void live_oom_settle(struct session *session);

/* After it: true if what was settled was the end of this run's script as well. */
bool live_oom_took_script(const struct cell *cell);
