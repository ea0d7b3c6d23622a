#pragma once

#include "wire/limits.h"

/* Sets the resource limits of the script, soft and hard, so that it can only lower them. Returns 0
 * or -errno. setrlimit(2) */
int resources_limit(const struct wire_limits *limits);

/* The one of them that the maker sets for all of its cells. */
int resources_limit_core(void);

/* Gives up what the process may have inherited from whoever started us: another scheduling class
 * than the normal one, and a personality (no address randomisation, executable data). Returns 0 or
 * -errno. sched(7), personality(2) */
int resources_reset(void);

/* Pins the calling process to the processors in the mask (0: all). Returns 0 or -errno. */
int resources_pin(uint64_t cpus);
