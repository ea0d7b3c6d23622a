#pragma once

#include "supervisor/options.h"

/* Gives up, for good and for all threads to come, whatever this process does not need: another
 * identity, capabilities, new programs and processes, names of files, new connections. What it
 * works with it already holds. Returns 0, or -errno with *ret_what naming the step; then the
 * process must end. Call it before the first thread. */
int lock_in(const struct options *options, const char **ret_what);
