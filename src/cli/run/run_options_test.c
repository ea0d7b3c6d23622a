#include "cli/run/run_options.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS_MAX 300

/* A command line that is built word by word. getopt moves the words around. */
struct line {
	char *argv[WORDS_MAX + 1];
	int argc;
	struct run_options options;
	char said[2048]; /* what went to stderr */
};

static void word(struct line *line, const char *text)
{
	assert_true(line->argc < WORDS_MAX);
	line->argv[line->argc++] = (char *)(uintptr_t)text;
	line->argv[line->argc] = NULL;
}

/* Parses with stderr caught. */
static int parse(struct line *line)
{
	AUTO_CLOSE int caught = memfd_create("stderr", MFD_CLOEXEC);
	AUTO_CLOSE int saved = fd_dup_above(STDERR_FILENO, 10);
	ssize_t n;
	int r;

	assert_true(dup2(caught, STDERR_FILENO) >= 0);
	r = run_options_parse(line->argc, line->argv, &line->options);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	n = pread(caught, line->said, sizeof(line->said) - 1, 0);
	line->said[n > 0 ? n : 0] = '\0';
	return r;
}

/* Words divided by single blanks. */
static int parse_words(struct line *line, const char *words)
{
	static char *copy;
	char *rest;

	free(copy);
	copy = xstrdup(words);
	rest = copy;
	memset(line, 0, sizeof(*line));
	word(line, "run");
	while (rest)
		word(line, strsep(&rest, " "));
	return parse(line);
}

static void refused(const char *words, const char *part)
{
	AUTO_FREE struct line *line = xcalloc(1, sizeof(*line));

	assert_int_equal(parse_words(line, words), -EINVAL);
	if (!strstr(line->said, part))
		fail_msg("'%s': no '%s' in '%s'", words, part, line->said);
}

static void test_a_script_alone(void **state)
{
	AUTO_FREE struct line *line = xcalloc(1, sizeof(*line));

	assert_int_equal(parse_words(line, "x.py"), RUN_OPTIONS_READ);
	assert_string_equal(line->options.script, "x.py");
	assert_string_equal(line->options.out_dir, "out");
	assert_string_equal(line->options.profile, "strict");
	assert_int_equal(line->options.wall_ms, 30000);
	assert_false(line->options.has_language);
	assert_string_equal(line->said, "");
}

static void test_all_options_in_any_order(void **state)
{
	AUTO_FREE struct line *line = xcalloc(1, sizeof(*line));

	assert_int_equal(
		parse_words(line,
			"-e A=1 x.sh --file a -f b --json --language=bash --out d "
			"--profile roomy --timeout 99.5 --stdin s --rootfs /r --unlimited-host "
			"-e TZ=Europe/Berlin -- --json -x"),
		RUN_OPTIONS_READ);
	assert_true(line->options.is_json);
	assert_true(line->options.is_host_unlimited);
	assert_int_equal(line->options.language, PACKAGE_BASH);
	assert_int_equal(line->options.n_files, 2);
	assert_string_equal(line->options.files[1], "b");
	assert_int_equal(line->options.wall_ms, 99500);
	assert_string_equal(line->options.stdin_path, "s");
	assert_string_equal(line->options.rootfs, "/r");
	assert_int_equal(line->options.n_env, 2);
	assert_int_equal(line->options.n_args, 2);
	assert_string_equal(line->options.args[0], "--json");
}

static void test_the_last_variable_of_a_name_wins(void **state)
{
	AUTO_FREE struct line *line = xcalloc(1, sizeof(*line));

	assert_int_equal(parse_words(line, "- -e A=1 -e AB=2 -e A=3"), RUN_OPTIONS_READ);
	assert_int_equal(line->options.n_env, 2);
	assert_string_equal(line->options.env[0], "A=3");
	assert_string_equal(line->options.env[1], "AB=2");
}

static void test_help_wins(void **state)
{
	AUTO_FREE struct line *line = xcalloc(1, sizeof(*line));

	assert_int_equal(parse_words(line, "--help"), RUN_OPTIONS_HELP);
	assert_int_equal(parse_words(line, "x.py -h"), RUN_OPTIONS_HELP);
	assert_int_equal(parse_words(line, "x.py -- -h"), RUN_OPTIONS_READ);
}

static void test_each_mistake_names_option_and_remedy(void **state)
{
	refused("--json", "which script?");
	refused("x.py y", "cloche run x.py -- y");
	refused("--nope x.py", "--nope");
	refused("-z x.py", "-z");
	refused("x.py --file", "--file needs a value");
	refused("x.py --json=1", "--json=1");
	refused("x.py -l ruby", "python or bash");
	refused("x.py -p tiny", "strict");
	refused("x.py -o ", "--out");
	refused("x.py -e A", "NAME=VALUE");
	refused("x.py -e =1", "--env");
	refused("x.py -e PATH=/x", "--env PATH");
	refused("x.py -e LD_PRELOAD=x", "--env LD_PRELOAD");
	refused("x.py -e PYTHONHASHSEED=0", "--env PYTHONHASHSEED");
	refused("x.py -e A-B=1", "--env A-B");
	refused("- --stdin -", "--stdin -");
}

static void test_bad_times(void **state)
{
	static const char *const times[] = { "0", "0.0", "-1", "x", "", "1e3", "1.2345", "30 ",
		"nan", ".", "." };
	AUTO_FREE struct line *line = xcalloc(1, sizeof(*line));

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		memset(line, 0, sizeof(*line));
		word(line, "run");
		word(line, "x.py");
		word(line, "-t");
		word(line, times[i]);
		assert_int_equal(parse(line), -EINVAL);
		assert_non_null(strstr(line->said, "--timeout"));
	}
	refused("x.py -t 30.001", "roomy");
	refused("x.py -t 99999999999999999999", "--timeout");
	refused("x.py -p roomy -t 121", "120");
	assert_int_equal(parse_words(line, "x.py -t 30"), RUN_OPTIONS_READ);
	assert_int_equal(parse_words(line, "x.py -t 0.001"), RUN_OPTIONS_READ);
	assert_int_equal(line->options.wall_ms, 1);
	assert_true(line->options.has_timeout);
	/* there a session may have any profile */
	assert_int_equal(parse_words(line, "--server :1 x.py -t 30.001"), RUN_OPTIONS_READ);
	assert_null(line->options.profile);
	refused("--server :1 x.py -t 120.001", "no profile");
	refused("--server :1 x.py -p strict -t 30.001", "roomy");
	assert_int_equal(parse_words(line, "--server :1 x.py"), RUN_OPTIONS_READ);
	assert_false(line->options.has_timeout);
}

/* n times the word, after `run x.py` and an option; or after `--`. */
static int many(struct line *line, const char *option, const char *text, unsigned n)
{
	memset(line, 0, sizeof(*line));
	word(line, "run");
	word(line, "x.py");
	if (!option)
		word(line, "--");
	for (unsigned i = 0; i < n; i++) {
		if (option)
			word(line, option);
		word(line, text);
	}
	return parse(line);
}

static void test_counts_are_bounded(void **state)
{
	AUTO_FREE struct line *line = xcalloc(1, sizeof(*line));
	char names[PACKAGE_ENV_MAX + 1][8];

	assert_int_equal(many(line, NULL, "a", PACKAGE_ARGS_MAX), RUN_OPTIONS_READ);
	assert_int_equal(many(line, NULL, "a", PACKAGE_ARGS_MAX + 1), -EINVAL);
	assert_int_equal(many(line, "-f", "a", 100), RUN_OPTIONS_READ);
	memset(line, 0, sizeof(*line));
	word(line, "run");
	word(line, "x.py");
	for (unsigned i = 0; i <= PACKAGE_ENV_MAX; i++) {
		assert_int_equal(str_format(names[i], sizeof(names[i]), "A%u=", i), 0);
		word(line, "-e");
		word(line, names[i]);
	}
	assert_int_equal(parse(line), -EINVAL);
	assert_non_null(strstr(line->said, "--env"));
}

static void test_bytes_are_bounded(void **state)
{
	AUTO_FREE struct line *line = xcalloc(1, sizeof(*line));
	AUTO_FREE char *text = xmalloc(PACKAGE_ARG_BYTES_MAX + 2);

	memset(text, 'x', PACKAGE_ARG_BYTES_MAX + 1);
	text[PACKAGE_ARG_BYTES_MAX + 1] = '\0';
	assert_int_equal(many(line, NULL, text, 1), -EINVAL);
	text[PACKAGE_ENV_BYTES_MAX] = '\0';
	text[1] = '=';
	assert_int_equal(many(line, "-e", text, 1), -EINVAL);
	text[PACKAGE_ENV_BYTES_MAX - 1] = '\0';
	assert_int_equal(many(line, "-e", text, 1), RUN_OPTIONS_READ);
}

static void test_the_parser_can_be_used_again(void **state)
{
	AUTO_FREE struct line *line = xcalloc(1, sizeof(*line));

	for (int i = 0; i < 3; i++) {
		assert_int_equal(parse_words(line, "x.py --json y"), -EINVAL);
		assert_int_equal(parse_words(line, "--json x.py"), RUN_OPTIONS_READ);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_script_alone),
		cmocka_unit_test(test_all_options_in_any_order),
		cmocka_unit_test(test_the_last_variable_of_a_name_wins),
		cmocka_unit_test(test_help_wins),
		cmocka_unit_test(test_each_mistake_names_option_and_remedy),
		cmocka_unit_test(test_bad_times),
		cmocka_unit_test(test_counts_are_bounded),
		cmocka_unit_test(test_bytes_are_bounded),
		cmocka_unit_test(test_the_parser_can_be_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
