#include "base/assert.h"

#include "base/fd.h"
#include "base/macro.h"
#include "base/unit.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_failed_assertion_says_where_and_aborts(void **state)
{
	char text[512] = "";
	int pipe_fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL);
		dup2(pipe_fds[1], STDERR_FILENO);
		assert(2 + 2 == 5);
		_exit(0);
	}
	(void)fd_close(pipe_fds[1]);
	assert_true(fd_read_full(pipe_fds[0], text, sizeof(text) - 1) > 0);
	(void)fd_close(pipe_fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(text, "2 + 2 == 5"));
	assert_non_null(strstr(text, "assert_test.c:"));
}

static void test_macros(void **state)
{
	struct outer {
		int a;
		char member;
	} object = { 1, 2 };
	int array[7], i = 3;

	assert_ptr_equal(container_of(&object.member, struct outer, member), &object);
	assert_int_equal(ARRAY_SIZE(array), 7);
	assert_int_equal(MIN(i++, 9), 3);
	assert_int_equal(MAX(i++, 2), 4);
	assert_int_equal(i, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failed_assertion_says_where_and_aborts),
		cmocka_unit_test(test_macros),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
