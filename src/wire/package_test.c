#include "wire/package.h"

#include "base/macro.h"
#include "wire/package_form.h"

#include "base/unit.h"

#include <errno.h>

/* The reader, on packages that a hostile client made by hand. */

static unsigned char bytes[PACKAGE_SIZE_MAX + 1];
static struct package parsed;

/* Lays a package out; strings may hold NULs. Returns its size. */
static size_t lay(const struct package_head *head, const char *strings, const char *code)
{
	memcpy(bytes, head, sizeof(*head));
	memcpy(bytes + sizeof(*head), strings, head->strings_size);
	memcpy(bytes + sizeof(*head) + head->strings_size, code, head->code_size);
	return sizeof(*head) + head->strings_size + head->code_size;
}

static struct package_head good_head(void)
{
	return (struct package_head){ .magic = PACKAGE_MAGIC,
		.language = PACKAGE_BASH,
		.n_args = 2,
		.n_env = 1,
		.strings_size = 12,
		.code_size = 5 };
}

#define GOOD_STRINGS "one\0two\0A=b"
#define GOOD_CODE    "ls -l"

static int parse_strings(uint32_t n_args, uint32_t n_env, const char *strings, uint32_t size)
{
	struct package_head head = { .magic = PACKAGE_MAGIC,
		.language = PACKAGE_BASH,
		.n_args = n_args,
		.n_env = n_env,
		.strings_size = size };
	size_t total = lay(&head, strings, "");

	return package_parse(bytes, total, &parsed);
}

static void test_a_good_package_is_read(void **state)
{
	struct package_head head = good_head();
	size_t size = lay(&head, GOOD_STRINGS, GOOD_CODE);

	assert_int_equal(package_parse(bytes, size, &parsed), 0);
	assert_int_equal(parsed.language, PACKAGE_BASH);
	assert_int_equal(parsed.n_args, 2);
	assert_string_equal(parsed.args[0], "one");
	assert_string_equal(parsed.args[1], "two");
	assert_null(parsed.args[2]);
	assert_int_equal(parsed.n_env, 1);
	assert_string_equal(parsed.env[0], "A=b");
	assert_null(parsed.env[1]);
	assert_int_equal(parsed.code_size, 5);
	assert_memory_equal(parsed.code, "ls -l", 5);
}

static void test_every_other_size_is_refused(void **state)
{
	struct package_head head = good_head();
	size_t size = lay(&head, GOOD_STRINGS, GOOD_CODE);

	for (size_t other = 0; other < size + 64; other++) {
		int expected = other == size ? 0 : -EBADMSG;

		assert_int_equal(package_parse(bytes, other, &parsed), expected);
	}
	assert_int_equal(package_parse(bytes, sizeof(bytes), &parsed), -EBADMSG);
	assert_int_equal(package_parse(bytes, SIZE_MAX, &parsed), -EBADMSG);
}

static void assert_head_refused(const struct package_head *head, size_t size)
{
	memcpy(bytes, head, sizeof(*head));
	assert_int_equal(package_parse(bytes, size, &parsed), -EBADMSG);
}

static void test_hostile_heads_are_refused(void **state)
{
	struct package_head head = good_head();
	size_t size = lay(&head, GOOD_STRINGS, GOOD_CODE);
	static const uint32_t hostile[] = { 0x7fffffff, 0x80000000u, UINT32_MAX - 16, UINT32_MAX };

	head.magic ^= 1;
	assert_head_refused(&head, size);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		head = good_head();
		head.language = hostile[i];
		assert_head_refused(&head, size);
		head = good_head();
		head.n_args = hostile[i];
		assert_head_refused(&head, size);
		head = good_head();
		head.n_env = hostile[i];
		assert_head_refused(&head, size);
		head = good_head();
		head.strings_size = hostile[i];
		assert_head_refused(&head, size);
		head = good_head();
		head.code_size = hostile[i];
		assert_head_refused(&head, size);
	}
	head = good_head();
	head.language = PACKAGE_LANGUAGE_MAX;
	assert_head_refused(&head, size);
}

/* strings_size + code_size = the true size modulo 2^32. */
static void test_sizes_that_wrap_around_are_refused(void **state)
{
	struct package_head head = good_head();
	size_t size = lay(&head, GOOD_STRINGS, GOOD_CODE);

	head.strings_size = UINT32_MAX;
	head.code_size = 18;
	assert_head_refused(&head, size);
	head.strings_size = 18;
	head.code_size = UINT32_MAX;
	assert_head_refused(&head, size);
	head.strings_size = 0x80000000u;
	head.code_size = 0x80000000u + 17;
	assert_head_refused(&head, size);
}

static void test_counts_end_at_their_maximum(void **state)
{
	char strings[(PACKAGE_ARGS_MAX + 1) * 4] = "";

	assert_int_equal(parse_strings(PACKAGE_ARGS_MAX, 0, strings, PACKAGE_ARGS_MAX), 0);
	assert_null(parsed.args[PACKAGE_ARGS_MAX]);
	assert_int_equal(
		parse_strings(PACKAGE_ARGS_MAX + 1, 0, strings, PACKAGE_ARGS_MAX + 1), -EBADMSG);
	for (size_t i = 0; i <= PACKAGE_ENV_MAX; i++)
		memcpy(strings + i * 4, "A=b", 4);
	assert_int_equal(parse_strings(0, PACKAGE_ENV_MAX, strings, PACKAGE_ENV_MAX * 4), 0);
	assert_null(parsed.env[PACKAGE_ENV_MAX]);
	assert_int_equal(parse_strings(0, PACKAGE_ENV_MAX + 1, strings, (PACKAGE_ENV_MAX + 1) * 4),
		-EBADMSG);
}

static void test_missing_and_surplus_strings_are_refused(void **state)
{
	assert_int_equal(parse_strings(0, 0, "", 0), 0);
	assert_int_equal(parse_strings(1, 0, "", 0), -EBADMSG);
	assert_int_equal(parse_strings(0, 1, "", 0), -EBADMSG);
	assert_int_equal(parse_strings(1, 0, "one", 3), -EBADMSG);
	assert_int_equal(parse_strings(1, 0, "one", 4), 0);
	assert_int_equal(parse_strings(2, 0, "one\0two", 7), -EBADMSG);
	assert_int_equal(parse_strings(1, 0, "one\0two", 8), -EBADMSG);
	assert_int_equal(parse_strings(3, 0, "one\0two", 8), -EBADMSG);
	assert_int_equal(parse_strings(0, 1, "A=b", 3), -EBADMSG);
	assert_int_equal(parse_strings(1, 1, "one\0A=b", 7), -EBADMSG);
	assert_int_equal(parse_strings(0, 0, "", 1), -EBADMSG);
}

/* The code begins with a NUL: the last string must not end in it. */
static void test_a_string_may_not_end_in_the_code(void **state)
{
	struct package_head head = { .magic = PACKAGE_MAGIC,
		.language = PACKAGE_PYTHON,
		.n_args = 1,
		.strings_size = 3,
		.code_size = 4 };
	size_t size = lay(&head, "one", "\0abc");

	assert_int_equal(package_parse(bytes, size, &parsed), -EBADMSG);
}

static void test_code_is_bytes_up_to_its_maximum(void **state)
{
	struct package_head head = {
		.magic = PACKAGE_MAGIC, .language = PACKAGE_PYTHON, .code_size = PACKAGE_CODE_MAX
	};

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &head, sizeof(head));
	assert_int_equal(package_parse(bytes, sizeof(head) + PACKAGE_CODE_MAX, &parsed), 0);
	assert_int_equal(parsed.code_size, PACKAGE_CODE_MAX);
	head.code_size++;
	memcpy(bytes, &head, sizeof(head));
	assert_int_equal(
		package_parse(bytes, sizeof(head) + PACKAGE_CODE_MAX + 1, &parsed), -EBADMSG);
}

static void test_a_program_needs_its_path(void **state)
{
	struct package_head head = { .magic = PACKAGE_MAGIC, .language = PACKAGE_PROGRAM };
	size_t size = lay(&head, "", "");

	assert_int_equal(package_parse(bytes, size, &parsed), -EBADMSG);
	head.n_args = 1;
	head.strings_size = sizeof("/bin/true");
	size = lay(&head, "/bin/true", "");
	assert_int_equal(package_parse(bytes, size, &parsed), 0);
}

static void test_a_variable_that_is_not_allowed_refuses_the_package(void **state)
{
	assert_int_equal(parse_strings(0, 1, "LD_PRELOAD=/x", 14), -EBADMSG);
	assert_int_equal(parse_strings(0, 2, "A=b\0PATH=/x", 12), -EBADMSG);
	assert_int_equal(parse_strings(0, 1, "", 1), -EBADMSG);
	assert_int_equal(parse_strings(1, 1, "LD_PRELOAD=/x\0A=b", 18), 0); /* an argument */
}

static void test_ordinary_variables_are_allowed(void **state)
{
	static const char *const allowed[] = { "A=", "A=b", "a=b=c", "_=x", "_A1=x", "TZ=UTC",
		"LANG=de_DE.UTF-8", "LC_ALL=C", "USERNAME=x", "HOMEPAGE=x", "PATHS=x", "MY_PATH=x",
		"XPYTHONPATH=x", "LDFLAGS=x", "ALD_PRELOAD=x", "OPENBLAS=x", "ENVIRONMENT=x",
		"BASHER=x", "API_KEY=\xff\x01", "http_proxy=x", "PYTHO=x", "path=/x" };

	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++) {
		if (!package_env_is_allowed(allowed[i]))
			fail_msg("%s is refused", allowed[i]);
	}
}

static void test_reserved_variables_are_refused(void **state)
{
	/* decision 10: PYTHON*, LD_*, MALLOC_*, its own names; and what steers loader or shell */
	static const char *const reserved[] = { "PYTHON=", "PYTHONPATH=/x", "PYTHONSTARTUP=x",
		"PYTHON_CPU_COUNT=64", "PYTHONHASHSEED=0", "LD_=", "LD_PRELOAD=x",
		"LD_LIBRARY_PATH=x", "LD_AUDIT=x", "MALLOC_ARENA_MAX=1", "MALLOC_=x",
		"GLIBC_TUNABLES=x", "PATH=/x", "PATH=", "HOME=/", "USER=root", "TMPDIR=/x",
		"MPLBACKEND=x", "MPLCONFIGDIR=x", "XDG_CACHE_HOME=x", "OMP_NUM_THREADS=64",
		"OPENBLAS_NUM_THREADS=64", "MKL_NUM_THREADS=64", "NUMEXPR_NUM_THREADS=64",
		"VECLIB_NUM_THREADS=64", "PYTHONUNBUFFERED=0", "BASH_ENV=x", "ENV=x",
		"SHELLOPTS=xtrace", "BASHOPTS=x", "IFS=x", "PS4=$(x)", "GCONV_PATH=x", "CLOCHE_X=1",
		"SSL_CERT_FILE=x" };

	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		if (package_env_is_allowed(reserved[i]))
			fail_msg("%s is allowed", reserved[i]);
	}
}

static void test_malformed_variables_are_refused(void **state)
{
	static const char *const malformed[] = { "", "A", "=", "=b", "=A=b", "1A=b", "9=", "A B=c",
		"A-B=c", "A.B=c", "A\n=c", " A=b", "A =b", "\xc3\x84=b", "BASH_FUNC_x%%=() { :; }",
		"A%=b", "A[0]=b", "A+=b" };

	for (size_t i = 0; i < ARRAY_SIZE(malformed); i++) {
		if (package_env_is_allowed(malformed[i]))
			fail_msg("%s is allowed", malformed[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_good_package_is_read),
		cmocka_unit_test(test_every_other_size_is_refused),
		cmocka_unit_test(test_hostile_heads_are_refused),
		cmocka_unit_test(test_sizes_that_wrap_around_are_refused),
		cmocka_unit_test(test_counts_end_at_their_maximum),
		cmocka_unit_test(test_missing_and_surplus_strings_are_refused),
		cmocka_unit_test(test_a_string_may_not_end_in_the_code),
		cmocka_unit_test(test_code_is_bytes_up_to_its_maximum),
		cmocka_unit_test(test_a_program_needs_its_path),
		cmocka_unit_test(test_a_variable_that_is_not_allowed_refuses_the_package),
		cmocka_unit_test(test_ordinary_variables_are_allowed),
		cmocka_unit_test(test_reserved_variables_are_refused),
		cmocka_unit_test(test_malformed_variables_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
