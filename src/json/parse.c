/*
 * Theory of operation: one pass over the bytes before jansson sees them, which knows only strings,
 * brackets and commas. In JSON every value but the root stands behind '[', ',' or ':', so brackets
 * opened plus commas plus one is never less than the number of values (names of members are counted
 * with their values). That is enough for a bound, and a mistake in the text costs nothing here:
 * jansson finds it, within the bound.
 */
#include "json/parse.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/tree.h"

#include <errno.h>
#include <stdbool.h>

struct scan {
	size_t values;
	size_t depth;
	bool is_in_text;
	bool is_escaped;
};

static void scan_text(struct scan *scan, char c)
{
	if (scan->is_escaped)
		scan->is_escaped = false;
	else if (c == '\\')
		scan->is_escaped = true;
	else if (c == '"')
		scan->is_in_text = false;
}

static void scan_structure(struct scan *scan, char c)
{
	switch (c) {
	case '"':
		scan->is_in_text = true;
		break;
	case '[':
	case '{':
		scan->values++;
		scan->depth++;
		break;
	case ']':
	case '}':
		if (scan->depth > 0)
			scan->depth--;
		break;
	case ',':
		scan->values++;
		break;
	default:
		break;
	}
}

int json_scan(struct str text, const char **ret_what)
{
	struct scan scan = { .values = 1 };

	if (text.n > JSON_SIZE_MAX) {
		*ret_what = "bytes";
		return -E2BIG;
	}
	for (size_t i = 0; i < text.n; i++) {
		if (scan.is_in_text)
			scan_text(&scan, text.p[i]);
		else
			scan_structure(&scan, text.p[i]);
		if (scan.values > JSON_VALUES_MAX || scan.depth > JSON_DEPTH_MAX) {
			*ret_what = scan.depth > JSON_DEPTH_MAX ? "levels" : "values";
			return -E2BIG;
		}
	}
	return 0;
}

/* The library's words quote the text, up to half a character. */
static void malformed_tell(const json_error_t *error, struct fault *ret_fault)
{
	AUTO_BUF struct buf words = BUF_INIT(3 * sizeof(error->text));

	(void)utf8_repair(&words, error->text, strlen(error->text));
	fault_set(ret_fault, FAULT_BAD_REQUEST, "the JSON is malformed: line %d, column %d: %s",
		error->line, error->column, buf_get_cstr(&words));
}

static int parse(struct str text, size_t flags, struct json **ret_json, struct fault *ret_fault)
{
	json_error_t error;
	const char *what;
	json_t *tree;

	if (json_scan(text, &what) < 0) {
		fault_set(ret_fault, FAULT_TOO_LARGE,
			"the JSON has more %s than are taken (%u bytes, %d values, %d levels)",
			what, JSON_SIZE_MAX, JSON_VALUES_MAX, JSON_DEPTH_MAX);
		return -E2BIG;
	}
	if (!utf8_is_valid(text.p, text.n)) {
		fault_set(ret_fault, FAULT_BAD_REQUEST, "the JSON is not UTF-8");
		return -EBADMSG;
	}
	tree = json_loadb(text.n > 0 ? text.p : "", text.n,
		flags | JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (!tree) {
		malformed_tell(&error, ret_fault);
		return -EBADMSG;
	}
	*ret_json = tree_to(tree);
	return 0;
}

int json_parse(struct str text, struct json **ret_json, struct fault *ret_fault)
{
	return parse(text, 0, ret_json, ret_fault);
}

int json_parse_ours(struct str text, struct json **ret_json, struct fault *ret_fault)
{
	return parse(text, JSON_ALLOW_NUL, ret_json, ret_fault);
}
