#include "supervisor/options.h"

#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>
#include <getopt.h>

static int parse(const char *const *words, int n, struct options *options)
{
	char *argv[8] = { NULL };

	for (int i = 0; i < n; i++)
		argv[i] = (char *)(uintptr_t)words[i];
	optind = 0;
	return options_parse(n, argv, options);
}

static void test_as_up_starts_it(void **state)
{
	static const char *const words[] = { "s", "--control-fd", "3", "--user", "7:8",
		"max_sessions=9", "rootfs=" };
	struct options options;

	assert_int_equal(parse(words, ARRAY_SIZE(words), &options), 0);
	assert_int_equal(options.control_fd, 3);
	assert_true(options.has_user);
	assert_int_equal(options.uid, 7);
	assert_int_equal(options.gid, 8);
	assert_int_equal(options.settings.max_sessions, 9);
	assert_int_equal(options.settings.session_idle_s, 60);
}

static void test_refusals(void **state)
{
	static const char *const words[][6] = { { "s" }, { "s", "--control-fd", "x" },
		{ "s", "--control-fd", "3", "--user", "0:0" },
		{ "s", "--control-fd", "3", "--user", "7" },
		{ "s", "--control-fd", "3", "--user", "7:4294967295" },
		{ "s", "--control-fd", "3", "bogus=1" },
		{ "s", "--control-fd", "3", "max_sessions=0" },
		{ "s", "--control-fd", "3", "max_sessions" }, { "s", "--bogus" } };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct options options;
		int n = 0;

		while (n < 6 && words[i][n])
			n++;
		assert_int_equal(parse(words[i], n, &options), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_up_starts_it),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
