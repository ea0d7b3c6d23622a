#include "client/call.h"

#include "base/fault.h"
#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>

static struct sandbox *make(const char *server, const char *token)
{
	const struct sandbox_config config = { .server = server, .token = token };
	struct sandbox *sandbox = NULL;
	struct fault fault;

	(void)sandbox_new(&config, &sandbox, &fault);
	return sandbox;
}

static void test_servers(void **state)
{
	static const char *const good[] = { "http://a", "https://a:1/", "unix:/run/x.sock" };
	static const char *const bad[] = { "", "a", "unix:", "unix:x", "http://", "http://u:p@h",
		"ftp://a",
		("unix:/x123456789012345678901234567890123456789012345678901234567890123"
		 "45678901234567890123456789012345678901234567890") };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct sandbox *sandbox = make(good[i], NULL);

		assert_non_null(sandbox);
		sandbox_free(sandbox);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_null(make(bad[i], NULL));
}

static void test_what_stays_here(void **state)
{
	assert_true(sandbox_is_local("unix:/run/x.sock"));
	assert_true(sandbox_is_local("http://127.0.0.1:17600"));
	assert_true(sandbox_is_local("http://localhost"));
	assert_false(sandbox_is_local("http://192.0.2.1"));
	assert_false(sandbox_is_local("x"));
}

static void test_a_token_cannot_end_its_header(void **state)
{
	struct sandbox *sandbox = make("http://a", "aA0-._~+/=");

	assert_non_null(sandbox);
	sandbox_free(sandbox);
	assert_null(make("http://a", ""));
	assert_null(make("http://a", "a b"));
	assert_null(make("http://a", "a\r\nX: y"));
}

static void test_paths(void **state)
{
	struct sandbox *sandbox = make("http://a/b/", NULL);
	struct call call;

	call_init(&call, sandbox, "GET", 0);
	call_path_text(&call, "/v1");
	assert_int_equal(call_path_segment(&call, STR("a/b%:\xff~")), 0);
	assert_int_equal(call_path_file(&call, STR("x y/\xc3\xa9?#")), 0);
	call_path_text(&call, "?after=");
	call_query_value(&call, STR("a&b\0c"));
	assert_string_equal(buf_get_cstr(&call.path),
		"http://a/b/v1/a%2Fb%25%3A%FF~/x%20y/%C3%A9%3F%23?after=a%26b%00c");
	assert_int_equal(call_path_segment(&call, STR("")), -EINVAL);
	assert_int_equal(call_path_segment(&call, STR(".")), -EINVAL);
	assert_int_equal(call_path_segment(&call, STR("a\0b")), -EINVAL);
	assert_int_equal(call_path_file(&call, STR("a/../b")), -EINVAL);
	assert_int_equal(call_path_file(&call, STR("/a")), -EINVAL);
	assert_int_equal(call_path_file(&call, STR("a/")), -EINVAL);
	call_fini(&call);
	sandbox_free(sandbox);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_servers),
		cmocka_unit_test(test_what_stays_here),
		cmocka_unit_test(test_a_token_cannot_end_its_header),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
