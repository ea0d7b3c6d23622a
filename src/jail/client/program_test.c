#include "jail/client/program.h"

#include "base/fd.h"
#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a line of bash prints when it is started so. */
static void prints(const char *line, const char *expected)
{
	const char *const argv[] = { "bash", "-c", line, NULL };
	struct program_request request = {
		.program = "/bin/bash", .argv = argv, .socket_fd = -1, .has_own_session = true
	};
	char text[256];
	int pair[2], status;
	pid_t pid;
	ssize_t n;

	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	request.stdout_fd = pair[1];
	assert_int_equal(program_start(&request, &pid), 0);
	(void)fd_close(pair[1]);
	n = fd_read_full(pair[0], text, sizeof(text) - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	assert_string_equal(text, expected);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	(void)fd_close(pair[0]);
}

static void test_nothing_of_ours_is_passed_on(void **state)
{
	int leaked = open("/dev/null", O_RDONLY);

	(void)setenv("SECRET_TOKEN", "x", 1);
	prints("echo \"$SECRET_TOKEN-$LANG\"", "-C.UTF-8\n");
	/* 3 is the folder that is listed. */
	prints("exec ls /proc/self/fd", "0\n1\n2\n3\n");
	prints("readlink /proc/self/fd/0", "/dev/null\n");
	(void)fd_close(leaked);
}

static void test_signals_are_as_at_birth(void **state)
{
	sigset_t all, before;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, &before);
	(void)signal(SIGPIPE, SIG_IGN);
	/* some versions of glibc leave 32 and 33, which it uses itself, ignored */
	prints("exec sed -nE '/^Sig(Blk|Ign):/{s/0000000180000000$/0000000000000000/;p}' "
	       "/proc/self/status",
		"SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}

static void test_it_has_a_session_of_its_own(void **state)
{
	prints("read -r a b c d e f g </proc/self/stat; [ $f = $$ ] && echo leads", "leads\n");
}

static void test_what_does_not_start_is_said(void **state)
{
	const char *const argv[] = { "x", NULL };
	const struct program_request request = {
		.program = "/nowhere", .argv = argv, .stdout_fd = -1, .socket_fd = -1
	};
	pid_t pid;

	assert_int_equal(program_start(&request, &pid), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_of_ours_is_passed_on),
		cmocka_unit_test(test_signals_are_as_at_birth),
		cmocka_unit_test(test_it_has_a_session_of_its_own),
		cmocka_unit_test(test_what_does_not_start_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
