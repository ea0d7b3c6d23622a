#include "launch/sweep.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"

#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Groups are played by ordinary folders; what only a cgroup tree does is tested in tests/jail. */

static char folder[32];
static int base = -1;
static char visited[256];

static int folder_make(void **state)
{
	memcpy(folder, "/tmp/cloche-sweep-XXXXXX", 25);
	if (!mkdtemp(folder))
		return -1;
	memset(visited, 0, sizeof(visited));
	base = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return base < 0 ? -1 : 0;
}

static int folder_remove(void **state)
{
	base = fd_close(base);
	return rmdir(folder);
}

static void make(const char *path)
{
	assert_int_equal(mkdirat(base, path, 0700), 0);
}

static void drop(const char *path)
{
	assert_int_equal(unlinkat(base, path, AT_REMOVEDIR), 0);
}

static bool is_there(const char *path)
{
	return faccessat(base, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool visit(void *ctx, const char *name)
{
	size_t n = strlen(visited);

	assert_ptr_equal(ctx, folder);
	assert_true(is_there(name));
	assert_int_equal(str_format(visited + n, sizeof(visited) - n, "%s;", name ? name : ""), 0);
	return strcmp(name, "cloche-0000beef") != 0;
}

static void test_a_group_goes_with_all_that_is_below_it(void **state)
{
	make("cloche-1");
	make("cloche-1/daemon");
	make("cloche-1/1");
	make("cloche-1/1/1");
	make("cloche-1/1/2");
	make("cloche-1/2");
	sweep_group(base, "cloche-1");
	assert_false(is_there("cloche-1"));
}

static void test_a_group_that_is_not_there_is_no_error(void **state)
{
	sweep_group(base, "cloche-1");
	sweep_group(-1, "cloche-1");
}

static void test_the_walk_ends_at_its_depth(void **state)
{
	make("cloche-1");
	make("cloche-1/1");
	make("cloche-1/1/2");
	make("cloche-1/1/2/3");
	make("cloche-1/1/2/3/4");
	make("cloche-1/1/2/3/4/5");
	sweep_group(base, "cloche-1");
	assert_true(is_there("cloche-1/1/2/3/4/5"));
	drop("cloche-1/1/2/3/4/5");
	sweep_group(base, "cloche-1");
	assert_false(is_there("cloche-1"));
}

static void test_links_are_not_followed(void **state)
{
	make("elsewhere");
	make("elsewhere/1");
	make("cloche-1");
	assert_int_equal(symlinkat("../elsewhere", base, "cloche-1/link"), 0);
	assert_int_equal(symlinkat("elsewhere", base, "cloche-11110000"), 0);
	sweep_group(base, "cloche-11110000");
	sweep_group(base, "cloche-1");
	sweep_dead(base, visit, folder);
	assert_true(is_there("elsewhere/1"));
	assert_int_equal(unlinkat(base, "cloche-1/link", 0), 0);
	assert_int_equal(unlinkat(base, "cloche-11110000", 0), 0);
	drop("cloche-1");
	drop("elsewhere/1");
	drop("elsewhere");
}

static void test_only_dead_groups_of_ours_are_swept(void **state)
{
	AUTO_CLOSE int lock = -1;

	make("cloche-dead0000");
	make("cloche-dead0000/1");
	make("cloche-0123abcd");
	make("cloche-0123abcd/1");
	make("cloche");
	make("mine-cloche-1");
	make("cloche-supervisor.service");
	make("cloche-workshop");
	make("cloche-0123abcde");
	lock = openat(base, "cloche-0123abcd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
	sweep_dead(base, visit, folder);
	assert_string_equal(visited, "cloche-dead0000;");
	assert_false(is_there("cloche-dead0000"));
	assert_true(is_there("cloche-0123abcd/1"));
	assert_true(is_there("cloche"));
	assert_true(is_there("mine-cloche-1"));
	lock = fd_close(lock);
	sweep_dead(base, visit, folder);
	assert_string_equal(visited, "cloche-dead0000;cloche-0123abcd;");
	assert_false(is_there("cloche-0123abcd"));
	drop("cloche");
	drop("mine-cloche-1");
	drop("cloche-supervisor.service");
	drop("cloche-workshop");
	drop("cloche-0123abcde");
}

static void test_a_group_that_the_visitor_keeps_is_left(void **state)
{
	make("cloche-0000beef");
	make("cloche-0000beef/1");
	sweep_dead(base, visit, folder);
	assert_string_equal(visited, "cloche-0000beef;");
	assert_true(is_there("cloche-0000beef/1"));
	drop("cloche-0000beef/1");
	drop("cloche-0000beef");
}

static void test_a_folder_that_cannot_be_read_is_no_error(void **state)
{
	sweep_dead(-1, visit, folder);
	assert_string_equal(visited, "");
}

static pid_t sleeper_start(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	return pid;
}

/* Takes the list away once the sleeper is dead, as a kernel would. */
static pid_t kernel_start(pid_t sleeper, const char *path)
{
	struct pollfd death = { .fd = (int)syscall(SYS_pidfd_open, sleeper, 0), .events = POLLIN };
	pid_t pid;

	assert_true(death.fd >= 0);
	pid = fork();
	if (pid == 0) {
		(void)poll(&death, 1, 10000);
		_exit(unlinkat(base, path, 0) < 0);
	}
	(void)fd_close(death.fd);
	return pid;
}

static void procs_put(const char *path, pid_t pid)
{
	AUTO_CLOSE int fd = openat(base, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	char text[64];

	/* 0 is a process of another namespace, and no reason to signal our own group */
	assert_int_equal(str_format(text, sizeof(text), "0\n%d\n\nx\n-1\n", pid), 0);
	assert_int_equal(fd_write_full(fd, text, strlen(text)), 0);
}

static void test_without_cgroup_kill_each_process_is_killed(void **state)
{
	usec_t start_us = clock_now_us();
	pid_t sleeper = sleeper_start(), kernel;
	int status;

	make("cloche-1");
	make("cloche-1/1");
	procs_put("cloche-1/1/cgroup.procs", sleeper);
	kernel = kernel_start(sleeper, "cloche-1/1/cgroup.procs");
	sweep_group(base, "cloche-1");
	assert_int_equal(waitpid(sleeper, &status, 0), sleeper);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(waitpid(kernel, &status, 0), kernel);
	assert_int_equal(status, 0);
	assert_false(is_there("cloche-1"));
	assert_true(clock_now_us() - start_us < 2 * USEC_PER_S);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_a_group_goes_with_all_that_is_below_it),
		IN_FOLDER(test_a_group_that_is_not_there_is_no_error),
		IN_FOLDER(test_the_walk_ends_at_its_depth),
		IN_FOLDER(test_links_are_not_followed),
		IN_FOLDER(test_only_dead_groups_of_ours_are_swept),
		IN_FOLDER(test_a_group_that_the_visitor_keeps_is_left),
		IN_FOLDER(test_a_folder_that_cannot_be_read_is_no_error),
		IN_FOLDER(test_without_cgroup_kill_each_process_is_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
