#pragma once

#include "jail/plan/zygote.h"

#include <stdbool.h>
#include <stddef.h>

/* What jaild executed us for is told by the first message: a cell's plan, or a zygote's. */

/* True if the message received is a zygote's plan. */
bool zygote_is_planned(const void *message, size_t size, size_t n_fds);

/* Becomes a zygote: an interpreter that jaild started without any right, for copies of it to be put
 * into cells. fds are those of the plan. A failure is told by INIT_FAILED on INIT_CONTROL_FD. */
__attribute__((noreturn)) void zygote_become(const struct zygote_plan *plan, const int *fds);
