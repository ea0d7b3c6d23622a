#include "base/child.h"

#include "base/fd.h"
#include "base/unit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long is waited for what does not come. */
#define LITTLE_MS 20
/* And for what does. */
#define LONG_MS 20000

static pid_t sleeper_make(int *ret_pidfd)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	*ret_pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_true(*ret_pidfd >= 0);
	return pid;
}

static void assert_nobody_is_left(pid_t pid)
{
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_a_child_is_killed_and_waited_for(void **state)
{
	int pidfd;
	pid_t pid = sleeper_make(&pidfd);

	child_end(pidfd);
	assert_nobody_is_left(pid);
	(void)fd_close(pidfd);
}

static void test_within_a_limit_as_well(void **state)
{
	int pidfd;
	pid_t pid = sleeper_make(&pidfd);

	assert_true(child_end_within(pidfd, LONG_MS));
	assert_nobody_is_left(pid);
	assert_true(child_end_within(pidfd, LONG_MS)); /* it has been waited for */
	(void)fd_close(pidfd);
}

/* Holds a dying process at its exit for as long as it lives itself. */
static pid_t holder_make(pid_t held)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_SEIZE, held, 0, PTRACE_O_TRACEEXIT) < 0 ||
			write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)fd_close(ready[1]);
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)fd_close(ready[0]);
	return pid;
}

static void test_one_that_the_kernel_holds_up_is_left_behind(void **state)
{
	int pidfd;
	pid_t pid = sleeper_make(&pidfd), holder = holder_make(pid);
	struct pollfd death = { .events = POLLIN };

	assert_false(child_end_within(pidfd, LITTLE_MS));
	assert_int_equal(kill(holder, SIGKILL), 0);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
	death.fd = pidfd;
	assert_int_equal(poll(&death, 1, LONG_MS), 1);
	assert_true(child_end_within(pidfd, LONG_MS));
	assert_nobody_is_left(pid);
	(void)fd_close(pidfd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_child_is_killed_and_waited_for),
		cmocka_unit_test(test_within_a_limit_as_well),
		cmocka_unit_test(test_one_that_the_kernel_holds_up_is_left_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
