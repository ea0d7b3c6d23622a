#pragma once

#include <stdint.h>

/* Sets permitted and effective to exactly `set` (bits 1 << CAP_x), inheritable and ambient to none,
 * and drops the rest from the bounding set: a cell's init is born with all capabilities of its own
 * user namespace anyway. Needs CAP_SETPCAP. Returns 0 or -errno. capabilities(7) */
int caps_reduce(uint64_t set);

/* Empties every set for good: also after exec, also for root. Needs CAP_SETPCAP. */
int caps_drop_all(void);
