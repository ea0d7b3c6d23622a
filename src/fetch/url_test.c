#include "fetch/url.h"

#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>
#include <string.h>

static void test_what_is_taken(void **state)
{
	static const struct {
		const char *text, *base;
		bool is_loopback;
	} rows[] = {
		{ "http://127.0.0.1:17600", "http://127.0.0.1:17600", true },
		{ "http://127.0.0.1:17600/", "http://127.0.0.1:17600", true },
		{ "http://localhost", "http://localhost", true },
		{ "http://[::1]:8", "http://[::1]:8", true },
		{ "https://box.example/cloche/", "https://box.example/cloche", false },
		{ "HTTP://box.example", "http://box.example", false },
		{ "http://127.0.0.1.evil.example", "http://127.0.0.1.evil.example", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fetch_url url;
		const char *why;

		assert_int_equal(fetch_url_parse(rows[i].text, &url, &why), 0);
		assert_string_equal(url.base, rows[i].base);
		assert_int_equal(url.is_loopback, rows[i].is_loopback);
	}
}

static void test_what_is_refused(void **state)
{
	static const char *const texts[] = { "", "x", "127.0.0.1:17600", "ftp://a", "file:///etc",
		"http://", "http://u@h", "http://u:p@h", "http://h/?x", "http://h/#x",
		"http://h:99999", "http://a b", "unix:/run/x" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct fetch_url url;
		const char *why = NULL;

		assert_int_equal(fetch_url_parse(texts[i], &url, &why), -EINVAL);
		assert_non_null(why);
	}
}

static void test_too_long(void **state)
{
	char text[1024];
	struct fetch_url url;
	const char *why;

	memset(text, 'a', sizeof(text));
	memcpy(text, "http://h/", 9);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(fetch_url_parse(text, &url, &why), -EINVAL);
	assert_string_equal(why, "it is too long");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_taken),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
