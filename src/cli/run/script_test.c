#include "cli/run/script.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/unit.h"
#include "cli/base/exit.h"
#include "cli/run/run_options.h"
#include "sandbox/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files in a folder of the test's own; options as the command line would give them. */
static char folder[] = "/tmp/script-test-XXXXXX";

static int folder_make(void **state)
{
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int folder_remove(void **state)
{
	(void)unlink("s");
	(void)unlink("s.py");
	(void)unlink("input");
	(void)unlink("said");
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void write_file(const char *name, const void *bytes, size_t n)
{
	AUTO_CLOSE int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(fd_write_full(fd, bytes, n), 0);
}

static int load(const char *script_name, const char *input, struct script *ret_script)
{
	AUTO_FREE struct run_options *options = xcalloc(1, sizeof(*options));

	options->script = script_name;
	options->stdin_path = input;
	return script_load(options, ret_script);
}

static int status_of(const char *script_name, const char *input)
{
	struct script script;
	int status = load(script_name, input, &script);

	script_fini(&script);
	return status;
}

static void test_code_and_input(void **state)
{
	struct script script;

	write_file("s.py", "a\r\n", 3);
	write_file("input", "in\0put", 6);
	assert_int_equal(load("s.py", "input", &script), 0);
	assert_int_equal(script.language, PACKAGE_PYTHON);
	assert_string_equal(buf_get_cstr(&script.code), "a\r\n");
	assert_true(script.has_input);
	assert_int_equal(script.input.len, 6);
	script_fini(&script);
}

static void test_no_input_is_not_empty_input(void **state)
{
	struct script script;

	write_file("s.py", "", 0);
	write_file("input", "", 0);
	assert_int_equal(load("s.py", NULL, &script), 0);
	assert_false(script.has_input);
	script_fini(&script);
	assert_int_equal(load("s.py", "input", &script), 0);
	assert_true(script.has_input);
	script_fini(&script);
}

static void test_bash_is_normalised(void **state)
{
	struct script script;

	write_file("s", "#!/bin/bash\r\necho\r\n", 19);
	assert_int_equal(load("s", NULL, &script), 0);
	assert_int_equal(script.language, PACKAGE_BASH);
	assert_string_equal(buf_get_cstr(&script.code), "#!/bin/bash\necho\n");
	script_fini(&script);
}

static void test_a_mistake_is_told_before_anything_runs(void **state)
{
	write_file("s", "print(1)\n", 9);
	assert_int_equal(status_of("s", NULL), EXIT_USAGE); /* in which language? */
	assert_int_equal(status_of("nowhere.py", NULL), EXIT_USAGE);
	assert_int_equal(status_of(".", NULL), EXIT_USAGE);
	write_file("s.py", "", 0);
	assert_int_equal(status_of("s.py", "nowhere"), EXIT_USAGE);
}

static void test_sizes_are_bounded(void **state)
{
	AUTO_FREE char *bytes = xcalloc(1, RUN_STDIN_MAX + 1);

	write_file("s.py", bytes, PACKAGE_CODE_MAX);
	write_file("input", bytes, RUN_STDIN_MAX);
	assert_int_equal(status_of("s.py", "input"), 0);
	write_file("input", bytes, RUN_STDIN_MAX + 1);
	assert_int_equal(status_of("s.py", "input"), EXIT_USAGE);
	write_file("s.py", bytes, PACKAGE_CODE_MAX + 1);
	assert_int_equal(status_of("s.py", NULL), EXIT_USAGE);
}

/* Puts a terminal in which bytes have been typed at stdin, and a file at stderr. */
static int terminal_make(const char *bytes)
{
	AUTO_CLOSE int slave = -1, said = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	assert_return_code(grantpt(master), errno);
	assert_return_code(unlockpt(master), errno);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_int_equal(fd_write_full(master, bytes, strlen(bytes)), 0);
	assert_return_code(dup2(slave, STDIN_FILENO), errno);
	assert_return_code(dup2(said, STDERR_FILENO), errno);
	return master;
}

/* Without the first end the rest is taken as well, and the two last ends let the test fail. */
static void test_a_terminal_ends_at_the_first_end(void **state)
{
	AUTO_CLOSE int in = dup(STDIN_FILENO), err = dup(STDERR_FILENO), said = -1, master = -1;
	char text[128] = "";
	struct script script;
	int status;

	master = terminal_make("print(1)\n\x04print(2)\n\x04\x04");
	status = load("-", NULL, &script);
	(void)dup2(in, STDIN_FILENO);
	(void)dup2(err, STDERR_FILENO);
	assert_int_equal(status, 0);
	assert_string_equal(buf_get_cstr(&script.code), "print(1)\n");
	script_fini(&script);
	said = open("said", O_RDONLY | O_CLOEXEC);
	assert_true(fd_read_full(said, text, sizeof(text) - 1) > 0);
	assert_string_equal(
		text, "cloche: reading the script from the terminal; end with Ctrl-D\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_and_input),
		cmocka_unit_test(test_no_input_is_not_empty_input),
		cmocka_unit_test(test_bash_is_normalised),
		cmocka_unit_test(test_a_mistake_is_told_before_anything_runs),
		cmocka_unit_test(test_sizes_are_bounded),
		cmocka_unit_test(test_a_terminal_ends_at_the_first_end),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
