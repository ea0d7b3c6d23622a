#pragma once

#include <stdbool.h>

/* Ends all processes in the group `name` of the tree folder base_fd (by cgroup.kill where the tree
 * has it, else one by one), waits up to two seconds until it is empty, and removes its folders,
 * deepest first. Errors are left for the next sweep. */
void sweep_group(int base_fd, const char *name);

/* Calls visit for every group "cloche-XXXXXXXX" (eight hexadecimal digits) below base_fd whose lock
 * nobody holds, and then, where visit returned true, sweep_group. */
void sweep_dead(int base_fd, bool (*visit)(void *ctx, const char *name), void *ctx);
