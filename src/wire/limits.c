#include "wire/limits.h"

#include "base/macro.h"

#include <errno.h>
#include <stddef.h>

/*
 * One table made from limits.def serves the check, the parser and the listing, so that a new limit
 * is one line there and cannot be forgotten here.
 */

struct limit {
	const char *name;
	size_t offset;
	enum limit_unit unit;
	uint64_t min;
	uint64_t max;
};

static const struct limit limits_table[] = {
#define LIMIT(name, unit, min, max) { #name, offsetof(struct wire_limits, name), unit, min, max },
#include "wire/limits.def"
#undef LIMIT
};

static uint64_t *limit_at(struct wire_limits *limits, const struct limit *limit)
{
	return (uint64_t *)(void *)((char *)limits + limit->offset);
}

static uint64_t limit_value(const struct wire_limits *limits, const struct limit *limit)
{
	return *(const uint64_t *)(const void *)((const char *)limits + limit->offset);
}

int wire_limits_check(const struct wire_limits *limits, const char **ret_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits_table); i++) {
		const struct limit *limit = &limits_table[i];
		uint64_t value = limit_value(limits, limit);

		if (value < limit->min || value > limit->max) {
			*ret_name = limit->name;
			return -ERANGE;
		}
	}
	return 0;
}

static int flag_parse(struct str value, uint64_t *ret)
{
	if (str_eq(value, STR("yes")))
		*ret = 1;
	else if (str_eq(value, STR("no")))
		*ret = 0;
	else
		return -EINVAL;
	return 0;
}

static int limit_parse(const struct limit *limit, struct str value, uint64_t *ret)
{
	switch (limit->unit) {
	case LIMIT_BYTES:
		return str_to_size(value, limit->max, ret);
	case LIMIT_MS:
	case LIMIT_COUNT:
		return str_to_u64(value, limit->max, ret);
	case LIMIT_FLAG:
		return flag_parse(value, ret);
	}
	return -EINVAL;
}

int wire_limits_set(struct wire_limits *limits, struct str name, struct str value)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits_table); i++) {
		const struct limit *limit = &limits_table[i];
		uint64_t parsed;
		int r;

		if (!str_eq(name, str_from(limit->name)))
			continue;
		r = limit_parse(limit, value, &parsed);
		if (r < 0)
			return r;
		if (parsed < limit->min)
			return -ERANGE;
		*limit_at(limits, limit) = parsed;
		return 0;
	}
	return -ENOENT;
}

int wire_limits_get(const struct wire_limits *limits, unsigned i, const char **ret_name,
	uint64_t *ret_value, enum limit_unit *ret_unit)
{
	if (i >= ARRAY_SIZE(limits_table))
		return -ENOENT;
	*ret_name = limits_table[i].name;
	*ret_value = limit_value(limits, &limits_table[i]);
	*ret_unit = limits_table[i].unit;
	return 0;
}
