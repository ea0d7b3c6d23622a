#pragma once

#include "jail/outside/filter.h"

struct sock_filter;

/* Writes the script's filter into program, cap places at most. Returns the number of instructions,
 * or -E2BIG. seccomp(2) */
int filter_code_make(enum filter_part part, struct sock_filter *program, unsigned cap);
