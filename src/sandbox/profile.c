/*
 * Theory of operation: the files of profiles/ are reviewed data and stay readable text; the build
 * copies them into the program (tools/embed), so that a run needs no installed file and a changed
 * file needs a build, as changed code does. They are parsed at use: there is one way to read them.
 */
#include "sandbox/profile.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/fault.h"
#include "base/macro.h"

#include <errno.h>
#include <string.h>

struct embedded {
	const char *name;
	const char *text;
	size_t size;
};

static const struct embedded profiles[] = {
#include "sandbox/profiles.inc"
};

struct reader {
	struct wire_limits *limits;
	bool seen[WIRE_LIMITS_FIELDS_MAX];
	struct conf_error *error;
};

/* The number of the limit called name, or -ENOENT. */
static int limit_number(const struct wire_limits *limits, struct str name)
{
	enum limit_unit unit;
	uint64_t value;
	const char *at;

	for (unsigned i = 0; wire_limits_get(limits, i, &at, &value, &unit) == 0; i++)
		if (str_eq(name, str_from(at)))
			return (int)i;
	return -ENOENT;
}

static int on_value(void *ctx, struct str section, struct str key, struct str value, unsigned line)
{
	struct reader *reader = ctx;
	int number = section.n > 0 ? -ENOENT : limit_number(reader->limits, key);

	if (number < 0) {
		(void)str_copy(reader->error->text, sizeof(reader->error->text), "no such limit");
		return number;
	}
	if (reader->seen[number]) {
		(void)str_copy(reader->error->text, sizeof(reader->error->text), "set twice");
		return -EEXIST;
	}
	reader->seen[number] = true;
	return wire_limits_set(reader->limits, key, value);
}

int profile_parse(struct str text, struct wire_limits *ret_limits, struct fault *ret_fault)
{
	struct wire_limits limits = { 0 };
	struct conf_error error;
	struct reader reader = { .limits = &limits, .error = &error };
	enum limit_unit unit;
	const char *name;
	uint64_t value;

	if (conf_parse(text, on_value, &reader, &error) < 0) {
		fault_set(ret_fault, FAULT_INTERNAL, "line %u: %s", error.line, error.text);
		return -EBADMSG;
	}
	for (unsigned i = 0; wire_limits_get(&limits, i, &name, &value, &unit) == 0; i++)
		if (!reader.seen[i]) {
			fault_set(ret_fault, FAULT_INTERNAL, "%s is missing", name);
			return -EBADMSG;
		}
	*ret_limits = limits;
	return 0;
}

const char *profile_name(unsigned i)
{
	return i < ARRAY_SIZE(profiles) ? profiles[i].name : NULL;
}

int profile_get(const char *name, struct wire_limits *ret_limits, struct fault *ret_fault)
{
	AUTO_BUF struct buf names = BUF_INIT(sizeof(ret_fault->text));

	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		if (strcmp(profiles[i].name, name) == 0)
			return profile_parse(
				(struct str){ .p = profiles[i].text, .n = profiles[i].size },
				ret_limits, ret_fault);
		(void)buf_addf(&names, "%s%s", i > 0 ? ", " : "", profiles[i].name);
	}
	fault_set_field(ret_fault, "profile", "there is no profile '%.64s'; there are: %s", name,
		buf_get_cstr(&names));
	return -ENOENT;
}

const char *profile_with_more(const char *limit, uint64_t than, uint64_t *ret_more)
{
	const char *name = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		struct wire_limits limits = { 0 };
		struct fault ignored;
		enum limit_unit unit;
		uint64_t value;
		const char *own;
		int number;

		if (profile_get(profiles[i].name, &limits, &ignored) < 0)
			continue;
		number = limit_number(&limits, str_from(limit));
		assert(number >= 0);
		(void)wire_limits_get(&limits, (unsigned)number, &own, &value, &unit);
		if (value <= than)
			continue;
		name = profiles[i].name;
		than = *ret_more = value;
	}
	return name;
}
