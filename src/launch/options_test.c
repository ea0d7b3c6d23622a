#include "launch/options.h"

#include "base/fd.h"
#include "base/macro.h"

#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS_MAX 8

static struct options options;
static char said[1024];

/* Parses the words (NULL-ended), and keeps in `said` what went to stderr meanwhile. */
static int parse(const char *const *words)
{
	AUTO_CLOSE int file = memfd_create("stderr", MFD_CLOEXEC);
	AUTO_CLOSE int saved = fd_dup_above(2, 10);
	char *argv[WORDS_MAX + 2] = { (char *)(uintptr_t) "cloche-jaild" };
	int argc = 1, r;
	ssize_t n;

	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
	assert_int_equal(dup2(file, 2), 2);
	optind = 0; /* getopt(3): start again */
	memset(&options, 0xaa, sizeof(options));
	r = options_parse(argc, argv, &options);
	(void)fflush(stderr);
	assert_int_equal(dup2(saved, 2), 2);
	n = pread(file, said, sizeof(said) - 1, 0);
	assert_true(n >= 0);
	said[n] = '\0';
	return r;
}

#define PARSE(...) parse((const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

static void assert_refused(const char *what, int r)
{
	size_t lines = 0;

	for (const char *p = said; *p; p++)
		lines += *p == '\n';
	if (r != -EINVAL || lines != 1)
		fail_msg("%s: %d, '%s'", what, r, said);
}

static void test_nothing_said_is_the_defaults(void **state)
{
	assert_int_equal(PARSE(), 0);
	assert_int_equal(options.socket_fd, -1);
	assert_int_equal(options.setup_fd, -1);
	assert_null(options.rootfs);
	assert_int_equal(options.stage_to_fail, 0);
	assert_false(options.is_unlimited);
	assert_false(options.is_doctor);
	assert_int_equal(options.log_level, LOG_LEVEL_INFO);
	assert_string_equal(said, "");
}

static void test_each_option_sets_its_field(void **state)
{
	assert_int_equal(PARSE("--socket-fd", "7", "--rootfs", "/srv/root"), 0);
	assert_int_equal(options.socket_fd, 7);
	assert_int_equal(options.setup_fd, -1);
	assert_string_equal(options.rootfs, "/srv/root");
	assert_int_equal(PARSE("--inner=5", "--unlimited-host", "--doctor"), 0);
	assert_int_equal(options.setup_fd, 5);
	assert_int_equal(options.socket_fd, -1);
	assert_true(options.is_unlimited);
	assert_true(options.is_doctor);
	assert_int_equal(PARSE("--log-level", "error"), 0);
	assert_int_equal(options.log_level, LOG_LEVEL_ERROR);
	assert_string_equal(said, "");
}

static void test_numbers_end_at_their_maximum(void **state)
{
	assert_int_equal(PARSE("--socket-fd", "1048576"), 0);
	assert_int_equal(options.socket_fd, 1 << 20);
}

static void test_bad_numbers_are_refused_in_one_line(void **state)
{
	static const char *const bad[] = { "", "-1", "x", "7x", " 7", "0x7", "1048577",
		"4294967296", "18446744073709551616" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_refused(bad[i], PARSE("--socket-fd", bad[i]));
		assert_refused(bad[i], PARSE("--inner", bad[i]));
	}
	assert_refused("negative", PARSE("--inner", "-5"));
	assert_non_null(strstr(said, "'-5'"));
}

static void test_unknown_words_are_refused_in_one_line(void **state)
{
	assert_refused("unknown", PARSE("--nonsense"));
	assert_refused("letter", PARSE("-x"));
	assert_refused("level", PARSE("--log-level", "loud"));
	assert_refused("no value", PARSE("--rootfs"));
	assert_refused("surplus value", PARSE("--doctor=yes"));
	assert_refused("word", PARSE("word"));
	assert_refused("word behind", PARSE("--doctor", "word"));
	assert_refused("word behind --", PARSE("--", "--doctor"));
	assert_non_null(strstr(said, "'--doctor'"));
}

static void test_a_refusal_sets_nothing(void **state)
{
	struct options before;

	memset(&before, 0xaa, sizeof(before));
	assert_int_equal(PARSE("--socket-fd", "3", "--nonsense"), -EINVAL);
	assert_memory_equal(&options, &before, sizeof(options));
}

static void test_stages_are_made_to_fail_only_in_the_build_for_it(void **state)
{
#ifdef CLOCHE_FAULT_INJECTION
	assert_int_equal(PARSE("--fail-stage", "12"), 0);
	assert_int_equal(options.stage_to_fail, 12);
	assert_refused("large", PARSE("--fail-stage", "1001"));
#else
	assert_refused("--fail-stage", PARSE("--fail-stage", "12"));
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_said_is_the_defaults),
		cmocka_unit_test(test_each_option_sets_its_field),
		cmocka_unit_test(test_numbers_end_at_their_maximum),
		cmocka_unit_test(test_bad_numbers_are_refused_in_one_line),
		cmocka_unit_test(test_unknown_words_are_refused_in_one_line),
		cmocka_unit_test(test_a_refusal_sets_nothing),
		cmocka_unit_test(test_stages_are_made_to_fail_only_in_the_build_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
