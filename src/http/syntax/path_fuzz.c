/*
 * Any target, path and query, is decoded into memory of exactly the promised size and matched with
 * our kinds of patterns. What is accepted has no NUL, no empty segment and no segment of dots.
 */
#include "http/syntax/path.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_segments(struct str path)
{
	struct str rest = { path.p + 1, path.n - 1 }, segment;
	bool is_more = path.n > 1;

	assert(path.n > 0 && path.p[0] == '/' && !memchr(path.p, '\0', path.n));
	while (is_more) {
		is_more = str_split_once(rest, '/', &segment, &rest);
		assert(segment.n > 0 && !str_eq(segment, STR(".")) && !str_eq(segment, STR("..")));
	}
}

static void check_match(const char *pattern, struct str path)
{
	struct path_parameters got;

	if (!path_match(pattern, path, &got))
		return;
	for (size_t i = 0; i < got.n; i++) {
		struct str value = got.items[i].value;

		assert(value.n > 0 && value.p > path.p && value.p + value.n <= path.p + path.n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str target = { (const char *)data, size }, path, raw_path, raw_query;
	AUTO_FREE char *out = xmalloc(size + 1);
	const char *wrong = NULL;
	struct query query;

	(void)str_split_once(target, '?', &raw_path, &raw_query);
	if (raw_path.n == 0 || raw_path.p[0] != '/')
		return 0;
	if (path_decode(raw_path, out, &path, &wrong) == 0) {
		assert(path.n <= raw_path.n);
		check_segments(path);
		check_match("/v1/sessions/{key}/files/{path...}", path);
		check_match("/{key}", path);
		check_match("/{a}/{b}/{c}", path);
	} else {
		assert(wrong);
	}
	if (query_decode(raw_query, out, &query, &wrong) == 0)
		assert(query.n <= QUERY_FIELDS_MAX);
	return 0;
}
