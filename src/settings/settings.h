#pragma once

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct fault;

/*
 * The settings of a service, from one table (settings.def): defaults, a file, options. `up` reads
 * them, the supervisor is given them. cloche.conf(5)
 */

#define SETTING_TEXT_SIZE 1024

struct settings {
#define SETTING_TYPE_TEXT(name)				     char name[SETTING_TEXT_SIZE];
#define SETTING_TYPE_NUMBER(name)			     uint64_t name;
#define SETTING_TYPE_SIZE(name)				     uint64_t name;
#define SETTING(name, section, kind, preset, min, max, help) SETTING_TYPE_##kind(name)
#include "settings/settings.def"
#undef SETTING
};

/* All at their defaults. */
void settings_init(struct settings *settings);

/* Sets one by the name of its key (with _ or -). A section "" fits every key. Returns 0, -ENOENT
 * for an unknown key, -EINVAL or -ERANGE for a bad value, with *ret_fault saying what is right. */
int settings_set(struct settings *settings, struct str section, struct str key, struct str value,
	struct fault *ret_fault);

/* Reads a file's text. Returns 0, or -EBADMSG with *ret_fault naming the line. */
int settings_parse(struct settings *settings, struct str text, struct fault *ret_fault);

/* Key number i and its value as text: 0, or -ENOENT past the last. Value has SETTING_TEXT_SIZE. */
int settings_get(
	const struct settings *settings, unsigned i, const char **ret_key, char *ret_value);

/* What the key number i is for, a literal, or NULL past the last. */
const char *settings_help(unsigned i);
