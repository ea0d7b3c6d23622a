/*
 * Theory of operation: %2f is refused rather than kept apart from "/": no route of ours has a name
 * with a slash in it, and the decoded path can then be matched, logged and handed on as one string.
 * "." and ".." are refused, not resolved, in whatever way they are written: a client that sends
 * them wants either nothing or something it should not have.
 */
#include "http/syntax/path.h"

#include "base/assert.h"

#include <errno.h>
#include <string.h>

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Decodes s to out. Returns the bytes written, or -EBADMSG with *ret_wrong. */
static ssize_t percent_decode(struct str s, char *out, bool is_query, const char **ret_wrong)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == '%') {
			int high = i + 2 < s.n ? hex_value(s.p[i + 1]) : -1;
			int low = i + 2 < s.n ? hex_value(s.p[i + 2]) : -1;

			if (high < 0 || low < 0) {
				*ret_wrong =
					"A percent sign has no two hexadecimal digits behind it.";
				return -EBADMSG;
			}
			c = (char)(high * 16 + low);
			i += 2;
		} else if (c == '+' && is_query) {
			c = ' ';
		}
		if (c == '\0') {
			*ret_wrong = "The target holds a NUL byte.";
			return -EBADMSG;
		}
		out[n++] = c;
	}
	return (ssize_t)n;
}

static bool is_dots(struct str s)
{
	return str_eq(s, STR(".")) || str_eq(s, STR(".."));
}

/* The part of *rest before the next `at`, which leaves *rest; false when nothing is left. */
static bool part_take(struct str *rest, char at, struct str *ret_part)
{
	struct str whole = *rest;

	if (!whole.p)
		return false;
	if (!str_split_once(whole, at, ret_part, rest))
		*rest = (struct str){ NULL, 0 };
	return true;
}

/* Decodes one segment to out. Returns the bytes written, or -EBADMSG with *ret_wrong. */
static ssize_t segment_decode(struct str segment, char *out, const char **ret_wrong)
{
	ssize_t n = percent_decode(segment, out, false, ret_wrong);

	if (n < 0)
		return n;
	if (n == 0)
		*ret_wrong = "The path has an empty segment.";
	else if (memchr(out, '/', (size_t)n))
		*ret_wrong = "The path has an encoded slash.";
	else if (is_dots((struct str){ out, (size_t)n }))
		*ret_wrong = "The path has a segment of dots.";
	else
		return n;
	return -EBADMSG;
}

int path_decode(struct str path, char *out, struct str *ret, const char **ret_wrong)
{
	struct str rest = path, segment;
	size_t n = 0;

	assert(path.n > 0 && path.p[0] == '/');
	(void)part_take(&rest, '/', &segment); /* what is before the first slash: nothing */
	if (rest.n == 0)
		out[n++] = '/';
	while (path.n > 1 && part_take(&rest, '/', &segment)) {
		ssize_t used;

		out[n++] = '/';
		used = segment_decode(segment, out + n, ret_wrong);
		if (used < 0)
			return (int)used;
		n += (size_t)used;
	}
	*ret = (struct str){ out, n };
	return 0;
}

/* "{key}" and "{path...}" are parameters; true gives the name. */
static bool is_parameter(struct str part, struct str *ret_name, bool *ret_is_rest)
{
	if (!str_starts(part, STR("{")) || !str_ends(part, STR("}")))
		return false;
	*ret_name = (struct str){ part.p + 1, part.n - 2 };
	*ret_is_rest = str_ends(*ret_name, STR("..."));
	if (*ret_is_rest)
		ret_name->n -= 3;
	return true;
}

bool path_match(const char *pattern, struct str path, struct path_parameters *ret)
{
	struct str pattern_rest = str_from(pattern), rest = path, part, segment, name;
	bool is_rest = false;

	ret->n = 0;
	while (part_take(&pattern_rest, '/', &part)) {
		const char *start = rest.p;

		if (!part_take(&rest, '/', &segment))
			return false;
		if (!is_parameter(part, &name, &is_rest)) {
			if (!str_eq(part, segment))
				return false;
			continue;
		}
		if (segment.n == 0) /* the path is "/" */
			return false;
		if (is_rest)
			segment.n = (size_t)(path.p + path.n - start);
		assert(ret->n < PATH_PARAMETERS_MAX);
		ret->items[ret->n++] = (struct path_parameter){ name, segment };
		if (is_rest)
			return true;
	}
	return !rest.p;
}

/* Decodes "name=value" to out and adds it. Returns the bytes written, or -EBADMSG. */
static ssize_t field_decode(struct str part, char *out, struct query *query, const char **ret_wrong)
{
	struct str name, value;
	ssize_t n_name, n_value;

	(void)str_split_once(part, '=', &name, &value);
	n_name = percent_decode(name, out, true, ret_wrong);
	if (n_name < 0)
		return n_name;
	n_value = percent_decode(value, out + n_name, true, ret_wrong);
	if (n_value < 0)
		return n_value;
	name = (struct str){ out, (size_t)n_name };
	value = (struct str){ out + n_name, (size_t)n_value };
	*ret_wrong = "The query has a field twice, or more than 16.";
	if (query->n >= QUERY_FIELDS_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < query->n; i++) {
		if (str_eq(query->items[i].name, name))
			return -EBADMSG;
	}
	query->items[query->n++] = (struct path_parameter){ name, value };
	return n_name + n_value;
}

int query_decode(struct str query, char *out, struct query *ret, const char **ret_wrong)
{
	struct str rest = query, part;

	ret->n = 0;
	while (part_take(&rest, '&', &part)) {
		ssize_t used = part.n > 0 ? field_decode(part, out, ret, ret_wrong) : 0;

		if (used < 0)
			return (int)used;
		out += used;
	}
	return 0;
}
