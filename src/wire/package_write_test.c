#include "wire/package.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/macro.h"

#include "base/unit.h"

#include <errno.h>

static void test_what_is_written_is_read_back(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(PACKAGE_SIZE_MAX);
	struct package package = { .language = PACKAGE_PYTHON,
		.code = "print(1)\0\xff",
		.code_size = 10,
		.args = { "", "two words", "\xd0\xb6" },
		.n_args = 3,
		.env = { "TZ=Europe/Berlin", "EMPTY=" },
		.n_env = 2 };
	struct package read;

	assert_int_equal(package_format(&package, &out), 0);
	assert_int_equal(package_parse(out.data, out.len, &read), 0);
	assert_int_equal(read.language, PACKAGE_PYTHON);
	assert_int_equal(read.code_size, 10);
	assert_memory_equal(read.code, package.code, 10);
	assert_int_equal(read.n_args, 3);
	assert_int_equal(read.n_env, 2);
	for (unsigned i = 0; i < 3; i++)
		assert_string_equal(read.args[i], package.args[i]);
	for (unsigned i = 0; i < 2; i++)
		assert_string_equal(read.env[i], package.env[i]);
}

static void test_an_empty_package_is_read_back(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(PACKAGE_SIZE_MAX);
	struct package package = { .language = PACKAGE_BASH, .code = "" }, read;

	assert_int_equal(package_format(&package, &out), 0);
	assert_int_equal(package_parse(out.data, out.len, &read), 0);
	assert_int_equal(read.n_args + read.n_env + read.code_size, 0);
}

static void test_the_largest_package_fits_and_is_read_back(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(PACKAGE_SIZE_MAX);
	AUTO_FREE char *code = xcalloc(PACKAGE_CODE_MAX, 1);
	char arg[PACKAGE_ARG_BYTES_MAX / PACKAGE_ARGS_MAX];
	char env[PACKAGE_ENV_BYTES_MAX / PACKAGE_ENV_MAX];
	struct package package = { .language = PACKAGE_PYTHON,
		.code = code,
		.code_size = PACKAGE_CODE_MAX,
		.n_args = PACKAGE_ARGS_MAX,
		.n_env = PACKAGE_ENV_MAX };
	struct package read;

	memset(arg, 'a', sizeof(arg));
	arg[sizeof(arg) - 1] = '\0';
	memset(env, 'e', sizeof(env));
	env[1] = '=';
	env[sizeof(env) - 1] = '\0';
	for (size_t i = 0; i < PACKAGE_ARGS_MAX; i++)
		package.args[i] = arg;
	for (size_t i = 0; i < PACKAGE_ENV_MAX; i++)
		package.env[i] = env;
	assert_int_equal(package_format(&package, &out), 0);
	assert_int_equal(package_parse(out.data, out.len, &read), 0);
	assert_string_equal(read.args[PACKAGE_ARGS_MAX - 1], arg);
	assert_string_equal(read.env[PACKAGE_ENV_MAX - 1], env);
}

static int format(const struct package *package)
{
	AUTO_BUF struct buf out = BUF_INIT(PACKAGE_SIZE_MAX);

	return package_format(package, &out);
}

static void test_counts_and_code_over_their_maximum_are_refused(void **state)
{
	struct package package = { .code = "" };

	package.n_args = PACKAGE_ARGS_MAX + 1;
	assert_int_equal(format(&package), -E2BIG);
	package.n_args = 0;
	package.n_env = PACKAGE_ENV_MAX + 1;
	assert_int_equal(format(&package), -E2BIG);
	package.n_env = 0;
	package.code_size = PACKAGE_CODE_MAX + 1;
	assert_int_equal(format(&package), -E2BIG);
	package.code_size = (size_t)1 << 32; /* 0 in the head's 32 bits */
	assert_int_equal(format(&package), -E2BIG);
}

static void test_strings_over_their_maximum_are_refused(void **state)
{
	AUTO_FREE char *text = xmalloc(PACKAGE_ARG_BYTES_MAX + 1);
	struct package args = { .code = "", .args = { text }, .n_args = 1 };
	struct package env = { .code = "", .env = { text }, .n_env = 1 };

	memset(text, 'a', PACKAGE_ARG_BYTES_MAX);
	text[1] = '=';
	text[PACKAGE_ARG_BYTES_MAX] = '\0'; /* with its NUL one too long */
	assert_int_equal(format(&args), -E2BIG);
	text[PACKAGE_ARG_BYTES_MAX - 1] = '\0';
	assert_int_equal(format(&args), 0);
	text[PACKAGE_ENV_BYTES_MAX] = '\0';
	assert_int_equal(format(&env), -E2BIG);
	text[PACKAGE_ENV_BYTES_MAX - 1] = '\0';
	assert_int_equal(format(&env), 0);
}

static void test_variables_without_a_name_are_refused(void **state)
{
	static const char *const malformed[] = { "", "A", "=b" };

	for (size_t i = 0; i < ARRAY_SIZE(malformed); i++) {
		struct package package = { .code = "", .env = { malformed[i] }, .n_env = 1 };

		assert_int_equal(format(&package), -EINVAL);
	}
}

static void test_a_buffer_that_is_too_small_is_refused(void **state)
{
	struct package package = { .code = "echo", .code_size = 4, .args = { "x" }, .n_args = 1 };

	for (size_t max = 0; max < 24 + 2 + 4; max++) {
		AUTO_BUF struct buf out = BUF_INIT(max);

		assert_int_equal(package_format(&package, &out), -E2BIG);
	}
	AUTO_BUF struct buf out = BUF_INIT(24 + 2 + 4);
	assert_int_equal(package_format(&package, &out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_written_is_read_back),
		cmocka_unit_test(test_an_empty_package_is_read_back),
		cmocka_unit_test(test_the_largest_package_fits_and_is_read_back),
		cmocka_unit_test(test_counts_and_code_over_their_maximum_are_refused),
		cmocka_unit_test(test_strings_over_their_maximum_are_refused),
		cmocka_unit_test(test_variables_without_a_name_are_refused),
		cmocka_unit_test(test_a_buffer_that_is_too_small_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
