#pragma once

/* Ends all processes in the group `name` of the tree folder base_fd (by cgroup.kill where the tree
 * has it, else one by one), waits up to two seconds until it is empty, and removes its folders,
 * deepest first. Errors are left for the next sweep. */
void sweep_group(int base_fd, const char *name);

/* Calls sweep_group for every group "cloche-XXXXXXXX" (eight hexadecimal digits) below base_fd
 * whose lock nobody holds, and visit for its name, so that the other trees can be swept as well. */
void sweep_dead(int base_fd, void (*visit)(void *ctx, const char *name), void *ctx);
