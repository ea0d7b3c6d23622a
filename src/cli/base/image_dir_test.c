#include "cli/base/image_dir.h"

#include "base/unit.h"
#include "cli/base/exit.h"

#include <limits.h>
#include <string.h>

/* The host's files, and a tree that no command of ours removes. */
static void test_what_is_no_image_needs_no_share(void **state)
{
	int fd = 0;

	assert_int_equal(image_begin(NULL, &fd), 0);
	assert_int_equal(fd, -1);
	fd = 0;
	assert_int_equal(image_begin("/proc/self", &fd), 0);
	assert_int_equal(fd, -1);
}

/* Any other error than "there is none". */
static void test_an_image_that_cannot_be_held_is_refused(void **state)
{
	char path[PATH_MAX];
	int fd = 0;

	memset(path, '/', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(image_begin(path, &fd), EXIT_OURS);
	assert_int_equal(fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_image_needs_no_share),
		cmocka_unit_test(test_an_image_that_cannot_be_held_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
