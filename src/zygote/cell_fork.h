#pragma once

#include "jail/plan/zygote.h"

#include <sys/types.h>

/*
 * Copies the calling process, which has one thread, into a cell. Returns 1 in the copy, which has
 * all capabilities of the cell's user namespace, the socket as descriptor INIT_CONTROL_FD and
 * nothing else but 0 to 2, and must go on with warm_become; 0 in the caller, or -errno there with
 * *ret_stage. fds are those of a zygote_request and stay the caller's.
 */
int cell_fork(const struct zygote_request *request, const int *fds, unsigned *ret_stage);
