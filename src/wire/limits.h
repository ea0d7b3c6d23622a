#pragma once

#include "base/str.h"

#include <stdint.h>

/*
 * What a session and each of its runs may use: the numbers of a profile, as they travel to jaild.
 * Fixed width, no padding; the table limits.def names every field once.
 */

#define WIRE_LIMITS_FIELDS_MAX 32

struct wire_limits {
#define LIMIT(name, unit, min, max) uint64_t name;
#include "wire/limits.def"
#undef LIMIT
};

/* How a limit is written in a profile: 256M, milliseconds, a plain number, or yes/no. */
enum limit_unit {
	LIMIT_BYTES,
	LIMIT_MS,
	LIMIT_COUNT,
	LIMIT_FLAG
};

/* Checks every field against its range. Returns 0, or -ERANGE with *ret_name set to the field's
 * name (a literal). jaild calls it on what clients send, the client on what it read. */
int wire_limits_check(const struct wire_limits *limits, const char **ret_name);

/* Sets the field `name` from its written form. Returns 0, -ENOENT for an unknown name, -EINVAL or
 * -ERANGE for a bad value. */
int wire_limits_set(struct wire_limits *limits, struct str name, struct str value);

/* The name of field number i and its value, for listings. Returns 0, or -ENOENT past the last. */
int wire_limits_get(const struct wire_limits *limits, unsigned i, const char **ret_name,
	uint64_t *ret_value, enum limit_unit *ret_unit);
