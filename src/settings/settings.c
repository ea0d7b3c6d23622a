#include "settings/settings.h"

#include "base/conf.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/macro.h"

#include <errno.h>
#include <inttypes.h>

enum kind {
	KIND_TEXT,
	KIND_NUMBER,
	KIND_SIZE,
};

struct row {
	const char *name;
	const char *section;
	enum kind kind;
	const char *preset;
	uint64_t min, max;
	const char *help;
	size_t offset;
};

#define PRESET_TEXT(preset)   preset
#define PRESET_NUMBER(preset) #preset
#define PRESET_SIZE(preset)   #preset

static const struct row rows[] = {
#define SETTING(name, section, kind, preset, min, max, help)                                       \
	{ #name, section, KIND_##kind, PRESET_##kind(preset), min, max, help,                      \
		offsetof(struct settings, name) },
#include "settings/settings.def"
#undef SETTING
};

/* True if the key is the name, with - for _ or not. */
static bool is_named(struct str key, const char *name)
{
	if (key.n != strlen(name))
		return false;
	for (size_t i = 0; i < key.n; i++)
		if (key.p[i] != name[i] && !(key.p[i] == '-' && name[i] == '_'))
			return false;
	return true;
}

static const struct row *row_find(struct str key)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (is_named(key, rows[i].name))
			return &rows[i];
	return NULL;
}

static void *field_at(struct settings *settings, const struct row *row)
{
	return (char *)settings + row->offset;
}

static const void *field_of(const struct settings *settings, const struct row *row)
{
	return (const char *)settings + row->offset;
}

static int text_set(char *field, const struct row *row, struct str value, struct fault *ret_fault)
{
	if (value.n > row->max || memchr(value.p ? value.p : "", '\0', value.n)) {
		fault_set_field(ret_fault, row->name, "%s: at most %" PRIu64 " characters",
			row->name, row->max);
		return -EINVAL;
	}
	return str_format(field, SETTING_TEXT_SIZE, "%.*s", STR_ARG(value));
}

static int number_set(
	uint64_t *field, const struct row *row, struct str value, struct fault *ret_fault)
{
	uint64_t number = 0;
	int r = row->kind == KIND_SIZE ? str_to_size(value, row->max, &number)
				       : str_to_u64(value, row->max, &number);

	if (r == 0 && number >= row->min) {
		*field = number;
		return 0;
	}
	fault_set_field(ret_fault, row->name,
		"%s: %.*s is no number from %" PRIu64 " to %" PRIu64 "%s", row->name,
		(int)MIN(value.n, (size_t)32), value.p, row->min, row->max,
		row->kind == KIND_SIZE ? " (K, M, G and T are allowed)" : "");
	return r < 0 ? r : -ERANGE;
}

static int row_set(
	struct settings *settings, const struct row *row, struct str value, struct fault *ret_fault)
{
	if (row->kind == KIND_TEXT)
		return text_set(field_at(settings, row), row, value, ret_fault);
	return number_set(field_at(settings, row), row, value, ret_fault);
}

int settings_set(struct settings *settings, struct str section, struct str key, struct str value,
	struct fault *ret_fault)
{
	const struct row *row = row_find(key);
	enum log_level level;
	int r;

	if (!row || (section.n > 0 && !str_eq(section, str_from(row->section)))) {
		fault_set(ret_fault, FAULT_BAD_REQUEST, "there is no key %.*s%s%.*s",
			(int)MIN(key.n, (size_t)64), key.p, section.n > 0 ? " in section " : "",
			(int)MIN(section.n, (size_t)64), section.p);
		return -ENOENT;
	}
	r = row_set(settings, row, value, ret_fault);
	if (r == 0 && row->offset == offsetof(struct settings, log_level) &&
		log_level_parse(settings->log_level, &level) < 0) {
		fault_set_field(ret_fault, row->name, "log_level: %s", row->help);
		r = -EINVAL;
	}
	return r;
}

void settings_init(struct settings *settings)
{
	struct fault fault;

	*settings = (struct settings){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		(void)row_set(settings, &rows[i], str_from(rows[i].preset), &fault);
}

struct reading {
	struct settings *settings;
	struct fault *fault;
};

static int on_value(void *ctx, struct str section, struct str key, struct str value, unsigned line)
{
	struct reading *reading = ctx;

	(void)line;
	return settings_set(reading->settings, section, key, value, reading->fault);
}

int settings_parse(struct settings *settings, struct str text, struct fault *ret_fault)
{
	struct fault fault = { 0 };
	struct reading reading = { settings, &fault };
	struct conf_error error;

	if (conf_parse(text, on_value, &reading, &error) == 0)
		return 0;
	fault_set(ret_fault, FAULT_BAD_REQUEST, "line %u: %s", error.line,
		fault.text[0] ? fault.text : error.text);
	return -EBADMSG;
}

int settings_get(const struct settings *settings, unsigned i, const char **ret_key, char *ret_value)
{
	const struct row *row = i < ARRAY_SIZE(rows) ? &rows[i] : NULL;

	if (!row)
		return -ENOENT;
	*ret_key = row->name;
	if (row->kind == KIND_TEXT)
		return str_copy(ret_value, SETTING_TEXT_SIZE, field_of(settings, row));
	return str_format(ret_value, SETTING_TEXT_SIZE, "%" PRIu64,
		*(const uint64_t *)field_of(settings, row));
}

const char *settings_help(unsigned i)
{
	return i < ARRAY_SIZE(rows) ? rows[i].help : NULL;
}
