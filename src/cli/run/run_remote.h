#pragma once

struct run_options;

/* `cloche run --server`: the same as a run here, by a supervisor. Returns the exit status. */
int run_remote(const struct run_options *options);
