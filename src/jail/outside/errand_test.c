#include "jail/outside/errand.h"

#include "base/fd.h"
#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* What an errand that tells this comes back with. */
static int told(int result, int fd, int *ret_fd)
{
	struct errand errand;
	int r;

	assert_int_equal(errand_start(&errand), 0);
	if (errand.pid == 0) {
		errand_tell(errand.socket, result, fd);
		_exit(0);
	}
	r = errand_result(&errand, ret_fd);
	errand_end(&errand);
	assert_int_equal(errand.socket, -1);
	return r;
}

static void test_a_result_and_a_descriptor(void **state)
{
	AUTO_CLOSE int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int fd = -1;

	assert_int_equal(told(0, null_fd, &fd), 0);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(told(0, -1, NULL), 0);
}

static void test_a_failure_brings_no_descriptor(void **state)
{
	AUTO_CLOSE int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int fd = -7;

	assert_int_equal(told(-ENODEV, null_fd, &fd), -ENODEV);
	assert_int_equal(told(-ENOSPC, -1, NULL), -ENOSPC);
	assert_int_equal(fd, -7);
}

static void test_what_is_due_and_does_not_come(void **state)
{
	AUTO_CLOSE int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int fd = -7;

	assert_int_equal(told(0, -1, &fd), -EPROTO);
	assert_int_equal(told(0, null_fd, NULL), -EPROTO);
	assert_int_equal(told(1, -1, NULL), -EPROTO);
	assert_int_equal(fd, -7);
}

static void test_an_errand_that_ends_without_a_word(void **state)
{
	struct errand errand;

	assert_int_equal(errand_start(&errand), 0);
	if (errand.pid == 0)
		_exit(0);
	assert_int_equal(errand_result(&errand, NULL), -EPROTO);
	errand_end(&errand);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_result_and_a_descriptor),
		cmocka_unit_test(test_a_failure_brings_no_descriptor),
		cmocka_unit_test(test_what_is_due_and_does_not_come),
		cmocka_unit_test(test_an_errand_that_ends_without_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
