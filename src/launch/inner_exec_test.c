#include "launch/inner_exec.h"

#include "base/fd.h"
#include "base/unit.h"
#include "launch/options.h"
#include "wire/channel.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What would be jaild is this program again: it ends with a status of its own. Where a test is not
 * root the identity cannot be taken, and jaild is not executed in either case. */

#define EXECUTED 42

static int end_of_inner(bool is_launcher_there)
{
	const struct options options = { .socket_fd = -1, .setup_fd = -1 };
	const struct launcher_files files = { .init_fd = -1 };
	const struct cgroup_root cgroups = { WIRE_CGROUP_NONE, -1, -1, -1, -1 };
	int sockets[2], status;
	pid_t pid;

	assert_int_equal(channel_pair(sockets), 0);
	if (!is_launcher_there)
		sockets[0] = fd_close(sockets[0]);
	pid = fork();
	if (pid == 0) {
		(void)fd_close(sockets[0]);
		inner_exec(&(struct inner){ .options = &options,
			.files = &files,
			.cgroups = &cgroups,
			.ids = 1,
			.launcher_fd = sockets[1] });
		_exit(1);
	}
	(void)fd_close(sockets[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	(void)fd_close(sockets[0]);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_jaild_is_executed_for_a_launcher_that_lives(void **state)
{
	assert_int_equal(end_of_inner(true), geteuid() == 0 ? EXECUTED : 1);
}

static void test_jaild_is_not_executed_for_a_dead_launcher(void **state)
{
	assert_int_equal(end_of_inner(false), 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jaild_is_executed_for_a_launcher_that_lives),
		cmocka_unit_test(test_jaild_is_not_executed_for_a_dead_launcher),
	};

	if (argc == 3 && strcmp(argv[1], "--inner") == 0)
		_exit(EXECUTED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
