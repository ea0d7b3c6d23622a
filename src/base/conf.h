#pragma once

#include "base/str.h"

/*
 * Configuration text: `key = value` lines under `[section]` lines. `#` at the start of a line or
 * after a blank begins a comment. Keys and sections are of A-Za-z0-9_.- ; a value is what follows
 * the first `=`, trimmed, and may be empty. Control characters other than tab are refused.
 */

#define CONF_LINE_MAX 1024 /* bytes; a longer line is a mistake, not a setting */

struct conf_error {
	unsigned line; /* from 1 */
	char text[160];
};

/* Takes one setting; section is empty above the first [section]. The slices point into the text.
 * Returns 0, or -errno to stop. */
typedef int conf_on_value(
	void *ctx, struct str section, struct str key, struct str value, unsigned line);

/* Calls on_value for each setting in order. Returns 0; -EBADMSG if a line is malformed; or what
 * on_value returned below 0. On an error *ret_error says where and, unless on_value wrote it there
 * itself, what. The caller bounds the text. */
int conf_parse(struct str text, conf_on_value *on_value, void *ctx, struct conf_error *ret_error);
