#include "jail/outside/process.h"

#include "base/fd.h"
#include "base/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_US (10 * 1000 * 1000ULL)

/* Of a child that has done this; it is waited for once it was looked at, so it is a zombie at the
 * latest. */
static bool is_past(void (*act)(void), usec_t patience_us, int *ret_status)
{
	AUTO_CLOSE int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t pid = fork();
	int status;
	bool is;

	if (pid == 0) {
		act();
		(void)pause();
	}
	assert_true(process_is_known_as(proc_fd, pid, pid));
	assert_false(process_is_known_as(proc_fd, pid, pid + 1));
	is = process_is_past(proc_fd, pid, patience_us, ret_status);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (is)
		assert_int_equal(*ret_status, status);
	return is;
}

static void exit_three(void)
{
	_exit(3);
}

static void exit_well(void)
{
	_exit(0);
}

static void kill_itself(void)
{
	(void)kill(getpid(), SIGKILL);
}

static void stay(void)
{
}

static void test_the_status_is_what_its_parent_would_be_told(void **state)
{
	int status = -1;

	assert_true(is_past(exit_well, LONG_US, &status));
	assert_int_equal(status, 0);
	assert_true(is_past(exit_three, LONG_US, &status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_true(is_past(kill_itself, LONG_US, &status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void test_one_that_lives_is_not_past(void **state)
{
	int status;

	assert_false(is_past(stay, 0, &status));
	assert_false(is_past(stay, 2000, &status));
}

static void *thread_stay(void *argument)
{
	(void)pause();
	return argument;
}

/* The first thread has ended, and with it what the process is called after; the other goes on. */
static void leave_a_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_stay, NULL) == 0)
		pthread_exit(NULL);
}

static void test_one_with_a_thread_that_goes_on_is_not_past(void **state)
{
	int status;

	assert_false(is_past(leave_a_thread, 50000, &status));
}

static void stop_itself(void)
{
	(void)kill(getpid(), SIGSTOP);
}

static void test_one_that_is_stopped_is_not_past(void **state)
{
	int status;

	assert_false(is_past(stop_itself, 20000, &status));
}

/* Who may not know the status would read 0. */
static void test_a_status_that_is_not_told_to_us_is_none(void **state)
{
	AUTO_CLOSE int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t ended = fork(), other;
	siginfo_t info;
	int status = -1;

	if (ended == 0)
		_exit(3);
	assert_int_equal(waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT), 0);
	other = fork();
	if (other == 0) {
		if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
			_exit(2);
		_exit(process_is_past(proc_fd, ended, 0, &status));
	}
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_true(WIFEXITED(status));
	/* without root nobody else's process can be looked at */
	assert_int_equal(WEXITSTATUS(status), geteuid() == 0 ? 0 : 2);
	assert_int_equal(waitpid(ended, &status, 0), ended);
}

static void test_nobody_is_not_past(void **state)
{
	AUTO_CLOSE int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t pid = fork();
	struct process process;
	int status;

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(process_read(proc_fd, pid, &process) < 0);
	assert_false(process_is_past(proc_fd, pid, 0, &status));
	assert_false(process_is_known_as(proc_fd, pid, pid));
}

static void test_a_signal_that_kills_is_dying(void **state)
{
	AUTO_CLOSE int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct process process;
	siginfo_t info;
	pid_t pid = fork();
	int status;

	if (pid == 0)
		(void)pause();
	assert_int_equal(process_read(proc_fd, pid, &process), 0);
	assert_false(process_is_dying(&process));
	assert_int_equal(process.threads, 1);
	assert_true(process.memory_bytes > 0);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_read(proc_fd, pid, &process), 0);
	assert_true(process_is_dying(&process));
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_status_is_what_its_parent_would_be_told),
		cmocka_unit_test(test_one_that_lives_is_not_past),
		cmocka_unit_test(test_one_with_a_thread_that_goes_on_is_not_past),
		cmocka_unit_test(test_one_that_is_stopped_is_not_past),
		cmocka_unit_test(test_a_status_that_is_not_told_to_us_is_none),
		cmocka_unit_test(test_nobody_is_not_past),
		cmocka_unit_test(test_a_signal_that_kills_is_dying),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
