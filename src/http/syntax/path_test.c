#include "http/syntax/path.h"

#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>
#include <string.h>

static void check_decoded(const char *path, const char *wanted)
{
	char out[256];
	const char *wrong;
	struct str got;

	assert_true(strlen(path) <= sizeof(out));
	assert_int_equal(path_decode(str_from(path), out, &got, &wrong), 0);
	if (!str_eq(got, str_from(wanted)))
		fail_msg("%s: %.*s instead of %s", path, STR_ARG(got), wanted);
}

static void test_decode(void **state)
{
	check_decoded("/", "/");
	check_decoded("/a", "/a");
	check_decoded("/a/b%20c/%D0%B0", "/a/b c/\xd0\xb0");
	check_decoded("/%41%7e%25", "/A~%");
	check_decoded("/a/...", "/a/...");
	check_decoded("/.hidden/..a/a..", "/.hidden/..a/a..");
	check_decoded("/%ff%0A%22", "/\xff\n\"");
	check_decoded("/a+b", "/a+b");
	check_decoded("/%252f%252e", "/%2f%2e"); /* decoded once only */
}

static void test_refused(void **state)
{
	static const char *const paths[] = { "//", "/a/", "/a//b", "//a", "/.", "/..", "/a/../b",
		"/a/./b", "/%2e", "/%2E%2e", "/.%2e/a", "/%2e/a", "/a%2fb", "/%2F", "/a%2Fb",
		"/%00", "/a%00b", "/%", "/%a", "/a%4", "/%zz", "/%4g", "/% 41", "/%-1" };
	char out[64];
	const char *wrong;
	struct str got;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		wrong = NULL;
		if (path_decode(str_from(paths[i]), out, &got, &wrong) != -EBADMSG || !wrong)
			fail_msg("%s was taken", paths[i]);
	}
}

static void check_match(const char *pattern, const char *path, const char *first)
{
	struct path_parameters got;

	if (!path_match(pattern, str_from(path), &got))
		fail_msg("%s does not fit %s", path, pattern);
	assert_int_equal(got.n, first ? 1 : 0);
	if (first && !str_eq(got.items[0].value, str_from(first)))
		fail_msg("%s in %s: %.*s", pattern, path, STR_ARG(got.items[0].value));
}

static void test_match(void **state)
{
	struct path_parameters got;

	check_match("/", "/", NULL);
	check_match("/health", "/health", NULL);
	check_match("/v1/{key}", "/v1/a b", "a b");
	check_match("/v1/{key}/run", "/v1/x/run", "x");
	check_match("/f/{path...}", "/f/a", "a");
	check_match("/f/{path...}", "/f/a/b/c", "a/b/c");
	assert_true(path_match("/s/{key}/f/{path...}", STR("/s/k/f/a/b"), &got));
	assert_int_equal(got.n, 2);
	assert_true(str_eq(got.items[0].name, STR("key")));
	assert_true(str_eq(got.items[1].name, STR("path")));
	assert_true(str_eq(got.items[0].value, STR("k")));
	assert_true(str_eq(got.items[1].value, STR("a/b")));
}

static void test_no_match(void **state)
{
	static const char *const pairs[][2] = { { "/", "/a" }, { "/a", "/" }, { "/a", "/b" },
		{ "/a", "/a/b" }, { "/a/b", "/a" }, { "/v1/{key}", "/v1" },
		{ "/v1/{key}", "/v1/a/b" }, { "/v1/{key}/run", "/v1/a/runs" },
		{ "/f/{path...}", "/f" }, { "/ab", "/a" }, { "/{key}", "/" },
		{ "/{path...}", "/" } };
	struct path_parameters got;

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		if (path_match(pairs[i][0], str_from(pairs[i][1]), &got))
			fail_msg("%s fits %s", pairs[i][1], pairs[i][0]);
	}
}

static void test_query(void **state)
{
	char out[64];
	const char *wrong;
	struct query got;

	assert_int_equal(query_decode(STR("a=1+2&b&&c=%26%3d=&=e"), out, &got, &wrong), 0);
	assert_int_equal(got.n, 4);
	assert_true(str_eq(got.items[0].value, STR("1 2")));
	assert_true(str_eq(got.items[1].name, STR("b")));
	assert_int_equal(got.items[1].value.n, 0);
	assert_true(str_eq(got.items[2].value, STR("&==")));
	assert_int_equal(query_decode(STR(""), out, &got, &wrong), 0);
	assert_int_equal(got.n, 0);
}

static void test_query_refused(void **state)
{
	static const char *const queries[] = { "a=1&a=2", "a=%", "%00", "a=%0", "a=1&%61=2",
		"a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q" };
	char out[64];
	const char *wrong;
	struct query got;

	for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
		if (query_decode(str_from(queries[i]), out, &got, &wrong) != -EBADMSG)
			fail_msg("%s was taken", queries[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_no_match),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_query_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
