#include "cli/run/outputs.h"

#include "base/unit.h"
#include "cli/base/exit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/outputs-test-XXXXXX";

static int folder_make(void **state)
{
	int fd;

	if (!mkdtemp(folder) || chdir(folder) < 0)
		return -1;
	fd = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 || close(fd) < 0 ? -1 : 0;
}

static int folder_remove(void **state)
{
	(void)unlink("file");
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void test_what_can_be_made_is_fine_and_not_made(void **state)
{
	static const char *const paths[] = { "out", "a/b/c", ".", "..", "/", "/tmp", "./x/",
		"x//y" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(outputs_check(paths[i]), 0);
	assert_int_equal(access("out", F_OK), -1);
}

static void test_what_cannot_be_a_folder(void **state)
{
	assert_int_equal(outputs_check("file"), EXIT_USAGE);
	assert_int_equal(outputs_check("file/x"), EXIT_USAGE);
	assert_int_equal(outputs_check("file/x/y"), EXIT_USAGE);
	assert_int_equal(outputs_check("/dev/null"), EXIT_USAGE);
	/* Root may write there, and yet nothing can be made. */
	assert_int_equal(outputs_check("/proc"), EXIT_USAGE);
	assert_int_equal(outputs_check("/proc/x/y"), EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_can_be_made_is_fine_and_not_made),
		cmocka_unit_test(test_what_cannot_be_a_folder),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
