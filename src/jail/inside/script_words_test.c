#include "jail/inside/script_words.h"

#include "base/macro.h"
#include "base/str.h"

#include "base/unit.h"

static struct script_words words;

static void make(const struct package *package, uint64_t cpu_ms_per_s)
{
	struct wire_limits limits = { .cpu_ms_per_s = cpu_ms_per_s };

	memset(&words, 0xaa, sizeof(words));
	script_words_make(&words, package, &limits);
}

static void assert_words(const char *const *got, const char *const *expected)
{
	size_t i;

	for (i = 0; expected[i]; i++) {
		assert_non_null(got[i]);
		assert_string_equal(got[i], expected[i]);
	}
	assert_null(got[i]);
}

static size_t words_count(const char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

/* The variable's value; fails if it is there twice. */
static const char *value_of(const char *name)
{
	const char *found = NULL;

	for (size_t i = 0; words.envp[i]; i++) {
		if (strncmp(words.envp[i], name, strlen(name)) != 0 ||
			words.envp[i][strlen(name)] != '=')
			continue;
		assert_null(found);
		found = words.envp[i] + strlen(name) + 1;
	}
	return found;
}

static void test_the_environment_is_decision_10_and_nothing_else(void **state)
{
	static const char *const expected[] = {
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"HOME=/mnt/data",
		"USER=sandbox",
		"TMPDIR=/tmp",
		"MPLBACKEND=Agg",
		"MPLCONFIGDIR=/mnt/data/.config/matplotlib",
		"XDG_CACHE_HOME=/mnt/data/.cache",
		"PYTHONUNBUFFERED=1",
		"LANG=C.UTF-8",
		"TZ=UTC",
		"OMP_NUM_THREADS=1",
		"OPENBLAS_NUM_THREADS=1",
		"MKL_NUM_THREADS=1",
		"NUMEXPR_NUM_THREADS=1",
		"VECLIB_NUM_THREADS=1",
		"PYTHON_CPU_COUNT=1",
		NULL,
	};

	for (unsigned language = 0; language < PACKAGE_LANGUAGE_MAX; language++) {
		struct package package = { .language = (enum package_language)language,
			.args = { "/bin/true" },
			.n_args = 1 };

		make(&package, 1000);
		assert_words(words.envp, expected);
	}
}

static void test_nothing_of_our_own_environment_gets_in(void **state)
{
	struct package package = { .language = PACKAGE_PYTHON };

	assert_int_equal(setenv("CLOCHE_TEST_SECRET", "s3cret", 1), 0);
	assert_int_equal(setenv("LANG", "xx_XX", 1), 0);
	make(&package, 1000);
	assert_null(value_of("CLOCHE_TEST_SECRET"));
	assert_string_equal(value_of("LANG"), "C.UTF-8");
}

static void test_threads_are_the_processors_rounded_up(void **state)
{
	static const struct {
		uint64_t cpu_ms_per_s;
		const char *threads;
	} cases[] = { { 10, "1" }, { 999, "1" }, { 1000, "1" }, { 1001, "2" }, { 2000, "2" },
		{ 64000, "64" }, { 1ULL << 20, "1049" } };
	static const char *const names[] = { "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
		"MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_NUM_THREADS",
		"PYTHON_CPU_COUNT" };
	struct package package = { .language = PACKAGE_PYTHON };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		make(&package, cases[i].cpu_ms_per_s);
		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			assert_string_equal(value_of(names[j]), cases[i].threads);
	}
}

static void test_a_requested_tz_or_lang_takes_the_place_of_ours(void **state)
{
	struct package package = {
		.language = PACKAGE_PYTHON, .env = { "TZ=Europe/Berlin" }, .n_env = 1
	};

	make(&package, 1000);
	assert_string_equal(value_of("TZ"), "Europe/Berlin");
	assert_string_equal(value_of("LANG"), "C.UTF-8");
	assert_int_equal(words_count(words.envp), 16);
	package.env[0] = "LANG=";
	make(&package, 1000);
	assert_string_equal(value_of("LANG"), "");
	assert_string_equal(value_of("TZ"), "UTC");
	package.env[1] = "TZ=:";
	package.n_env = 2;
	make(&package, 1000);
	assert_string_equal(value_of("LANG"), "");
	assert_string_equal(value_of("TZ"), ":");
	assert_int_equal(words_count(words.envp), 16);
}

static void test_names_that_only_begin_alike_take_no_place(void **state)
{
	struct package package = { .language = PACKAGE_PYTHON,
		.env = { "LANGUAGE=de", "TZ_X=1", "LC_ALL=C" },
		.n_env = 3 };

	make(&package, 1000);
	assert_string_equal(value_of("LANG"), "C.UTF-8");
	assert_string_equal(value_of("TZ"), "UTC");
	assert_string_equal(value_of("LANGUAGE"), "de");
	assert_string_equal(value_of("TZ_X"), "1");
	assert_string_equal(value_of("LC_ALL"), "C");
}

static void test_python_is_started_by_its_bootstrap(void **state)
{
	static const char *const expected[] = { "/usr/bin/python3", "/etc/cloche/bootstrap.py",
		"-c", "two words", NULL };
	struct package package = {
		.language = PACKAGE_PYTHON, .args = { "-c", "two words" }, .n_args = 2
	};

	make(&package, 1000);
	assert_string_equal(words.path, "/usr/bin/python3");
	assert_words(words.argv, expected);
}

static void test_bash_runs_its_file(void **state)
{
	static const char *const expected[] = { "bash", "/run/cloche/main.sh", "--", NULL };
	struct package package = { .language = PACKAGE_BASH, .args = { "--" }, .n_args = 1 };

	make(&package, 1000);
	assert_string_equal(words.path, "/bin/bash");
	assert_words(words.argv, expected);
}

static void test_a_program_is_its_own_first_word(void **state)
{
	static const char *const expected[] = { "/bin/echo", "x", NULL };
	struct package package = {
		.language = PACKAGE_PROGRAM, .args = { "/bin/echo", "x" }, .n_args = 2
	};

	make(&package, 1000);
	assert_string_equal(words.path, "/bin/echo");
	assert_words(words.argv, expected);
}

static void test_the_largest_package_fits(void **state)
{
	struct package package = {
		.language = PACKAGE_PYTHON, .n_args = PACKAGE_ARGS_MAX, .n_env = PACKAGE_ENV_MAX
	};

	for (size_t i = 0; i < PACKAGE_ARGS_MAX; i++)
		package.args[i] = i == PACKAGE_ARGS_MAX - 1 ? "last" : "arg";
	for (size_t i = 0; i < PACKAGE_ENV_MAX; i++)
		package.env[i] = i == PACKAGE_ENV_MAX - 1 ? "LAST=1" : "A=b";
	make(&package, 1ULL << 20);
	assert_int_equal(words_count(words.argv), 2 + PACKAGE_ARGS_MAX);
	assert_string_equal(words.argv[1 + PACKAGE_ARGS_MAX], "last");
	assert_int_equal(words_count(words.envp), 16 + PACKAGE_ENV_MAX);
	assert_string_equal(value_of("LAST"), "1");
}

/* A client that could ask for one of our names would have it twice, and libc takes the first. */
static void test_none_of_our_names_may_be_asked_for(void **state)
{
	struct package package = { .language = PACKAGE_PYTHON };

	make(&package, 1000);
	for (size_t i = 0; words.envp[i]; i++) {
		bool is_free = strncmp(words.envp[i], "TZ=", 3) == 0 ||
			       strncmp(words.envp[i], "LANG=", 5) == 0;

		assert_int_equal(package_env_is_allowed(words.envp[i]), is_free);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_environment_is_decision_10_and_nothing_else),
		cmocka_unit_test(test_nothing_of_our_own_environment_gets_in),
		cmocka_unit_test(test_threads_are_the_processors_rounded_up),
		cmocka_unit_test(test_a_requested_tz_or_lang_takes_the_place_of_ours),
		cmocka_unit_test(test_names_that_only_begin_alike_take_no_place),
		cmocka_unit_test(test_python_is_started_by_its_bootstrap),
		cmocka_unit_test(test_bash_runs_its_file),
		cmocka_unit_test(test_a_program_is_its_own_first_word),
		cmocka_unit_test(test_the_largest_package_fits),
		cmocka_unit_test(test_none_of_our_names_may_be_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
