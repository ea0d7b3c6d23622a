#include "cli/run/inputs.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/unit.h"
#include "cli/base/exit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/inputs-test-XXXXXX";

static void file_make(const char *path, off_t size, mode_t mode)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	assert_int_equal(ftruncate(fd, size), 0);
}

static int folder_make(void **state)
{
	if (!mkdtemp(folder) || chdir(folder) < 0)
		return -1;
	(void)mkdir("a", 0700);
	(void)mkdir("b", 0700);
	(void)mkfifo("fifo", 0600);
	file_make("a/x.csv", 3, 0600);
	file_make("b/x.csv", 4, 0700);
	file_make("big", 3 << 20, 0600);
	return 0;
}

static int folder_remove(void **state)
{
	(void)unlink("a/x.csv");
	(void)unlink("b/x.csv");
	(void)unlink("big");
	(void)unlink("fifo");
	(void)rmdir("a");
	(void)rmdir("b");
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static int open_files(const char *first, const char *second, struct inputs *ret_inputs)
{
	AUTO_FREE struct run_options *options = xcalloc(1, sizeof(*options));

	options->limits.home_bytes = 4 << 20;
	options->profile = "test";
	options->files[options->n_files++] = first;
	if (second)
		options->files[options->n_files++] = second;
	return inputs_open(options, ret_inputs);
}

static int status_of(const char *first, const char *second)
{
	struct inputs inputs;
	int status = open_files(first, second, &inputs);

	inputs_fini(&inputs);
	return status;
}

static void test_B6_equal_names_are_numbered(void **state)
{
	struct inputs inputs;

	assert_int_equal(open_files("a/x.csv", "b/x.csv", &inputs), 0);
	assert_int_equal(inputs.n, 2);
	assert_string_equal(inputs.list[0].name, "x.csv");
	assert_string_equal(inputs.list[1].name, "x (2).csv");
	assert_int_equal(inputs.list[1].size_bytes, 4);
	assert_false(inputs.list[0].is_executable);
	assert_true(inputs.list[1].is_executable);
	inputs_fini(&inputs);
}

static void test_only_regular_files_are_taken(void **state)
{
	assert_int_equal(status_of("a", NULL), EXIT_USAGE);
	assert_int_equal(status_of("fifo", NULL), EXIT_USAGE); /* and does not hang */
	assert_int_equal(status_of("/dev/null", NULL), EXIT_USAGE);
	assert_int_equal(status_of("a/x.csv", "nowhere"), EXIT_USAGE);
	assert_int_equal(status_of("", NULL), EXIT_USAGE);
}

static void test_too_much_is_said_before_the_run(void **state)
{
	assert_int_equal(status_of("big", NULL), 0);
	assert_int_equal(status_of("big", "big"), EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_B6_equal_names_are_numbered),
		cmocka_unit_test(test_only_regular_files_are_taken),
		cmocka_unit_test(test_too_much_is_said_before_the_run),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
