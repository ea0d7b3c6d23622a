#pragma once

#include <stdint.h>

/* Sets permitted and effective to exactly `set` (bits 1 << CAP_x), inheritable and ambient to none,
 * and drops the rest from the bounding set: a cell's init is born with all capabilities of its own
 * user namespace anyway. Needs CAP_SETPCAP. Returns 0 or -errno. capabilities(7) */
int caps_reduce(uint64_t set);

/* Becomes uid and gid for good, without groups, with no capability in effect, also after an exec.
 * Only `reserve` stays permitted, for caps_raise. Needs CAP_SETPCAP, CAP_SETUID and CAP_SETGID.
 * Returns 0 or -errno. */
int caps_drop_to(unsigned uid, unsigned gid, uint64_t reserve);

/* Puts the permitted capabilities into effect. Returns 0 or -errno. */
int caps_raise(void);

/* Permitted and effective become exactly `set`, whatever the bounding set holds: for a child that
 * executes nothing and cannot change it (no CAP_SETPCAP). Returns 0 or -errno. */
int caps_keep_only(uint64_t set);
