#pragma once

#include "base/str.h"
#include "wire/limits.h"

#include <stdint.h>

struct fault;

/* The limits under a name: profiles/NAME.conf, built into the program; cloche-profile(5). */

#define PROFILE_DEFAULT "strict"

/* The profile's limits. Returns 0; -ENOENT with *ret_fault listing the names there are. */
int profile_get(const char *name, struct wire_limits *ret_limits, struct fault *ret_fault);

/* Reads profile text: every limit once, nothing else, each in its range. Returns 0, or -EBADMSG
 * with *ret_fault naming the line or the missing key. */
int profile_parse(struct str text, struct wire_limits *ret_limits, struct fault *ret_fault);

/* The profile that has most of a limit (its name in wire/limits.def), and how much; NULL when
 * none has more than this. */
const char *profile_with_more(const char *limit, uint64_t than, uint64_t *ret_more);

/* Name number i, in the order of the table; NULL past the last. */
const char *profile_name(unsigned i);
