#pragma once

#include "base/str.h"
#include "wire/limits.h"

struct fault;

/* The limits under a name: profiles/NAME.conf, built into the program; cloche-profile(5). */

#define PROFILE_DEFAULT "strict"

/* The profile's limits. Returns 0; -ENOENT with *ret_fault listing the names there are. */
int profile_get(const char *name, struct wire_limits *ret_limits, struct fault *ret_fault);

/* Reads profile text: every limit once, nothing else, each in its range. Returns 0, or -EBADMSG
 * with *ret_fault naming the line or the missing key. */
int profile_parse(struct str text, struct wire_limits *ret_limits, struct fault *ret_fault);

/* Name number i, in the order of the table; NULL past the last. */
const char *profile_name(unsigned i);
