#include "supervisor/lock/lock.h"

#include "base/unit.h"
#include "jail/plan/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Each is tried in a child that is locked in; it ends with the number of the first that is wrong.
 */

static void *thread_main(void *argument)
{
	return argument;
}

static int thread_works(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, thread_main, NULL) == 0 &&
	       pthread_join(thread, NULL) == 0;
}

static int refused(long result, int error)
{
	return result < 0 && errno == error;
}

static int store_fd = -1;

/* What the store needs, and what it does not. */
static int store_works(void)
{
	int fd = openat(store_fd, "a.new", O_WRONLY | O_CREAT | O_EXCL, 0600);
	int list = openat(store_fd, ".", O_RDONLY | O_DIRECTORY);

	return fd >= 0 && write(fd, "x", 1) == 1 && fsync(fd) == 0 && list >= 0 &&
	       renameat(store_fd, "a.new", store_fd, "a") == 0 && fsync(store_fd) == 0 &&
	       openat(store_fd, "a", O_RDONLY) >= 0 && unlinkat(store_fd, "a", 0) == 0 &&
	       refused(mkdirat(store_fd, "folder", 0700), EACCES) &&
	       refused(symlinkat("/etc/passwd", store_fd, "link"), EACCES) &&
	       refused(openat(store_fd, "../passwd", O_RDONLY), ENOENT) &&
	       refused(openat(store_fd, "..", O_RDONLY | O_DIRECTORY), EACCES);
}

/* No number that nobody has looked at is a call: neither in the gap, nor above all. */
static int unknown_calls_fail(void)
{
	for (uint32_t nr = 0; nr < 1024; nr++) {
		/* the kernel asks no filter about these two: tests/attack/ideas/filter_unknown.py
		 */
		if (syscall_is_reviewed(nr) || nr == 335 || nr == 336)
			continue;
		if (!refused(syscall(nr, 0, 0, 0, 0, 0, 0), ENOSYS))
			return 0;
	}
	return 1;
}

/* 0 if all is as it must be. */
static int look(void)
{
	char *const argv[] = { NULL };
	int pair[2];
	const int wells[] = {
		refused(open("/etc/passwd", O_RDONLY), EACCES),
		refused(open("/proc/self/maps", O_RDONLY), EACCES),
		refused(open("/dev/null", O_WRONLY), EACCES),
		open("/dev/null", O_RDONLY) >= 0,
		refused(socket(AF_INET, SOCK_STREAM, 0), EPERM),
		refused(socket(AF_UNIX, SOCK_STREAM, 0), EPERM),
		socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0,
		refused(syscall(SYS_fork), EPERM),
		refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), EPERM),
		refused(syscall(SYS_clone3, NULL, 0), ENOSYS),
		refused(execve("/bin/true", argv, argv), EPERM),
		refused(kill(getppid(), 0), EPERM),
		refused(unshare(CLONE_NEWUSER), EPERM),
		refused(syscall(SYS_bpf, 0, NULL, 0), EPERM),
		refused(syscall(SYS_io_uring_setup, 1, NULL), EPERM),
		refused(syscall(SYS_ptrace, 0, 0, 0, 0), EPERM),
		prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
		prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0,
		prctl(PR_CAPBSET_READ, 0, 0, 0, 0) == 0 || getuid() != 65534,
		geteuid() != 0 && getegid() != 0,
		unknown_calls_fail(),
		thread_works(),
		store_works(),
	};

	for (size_t i = 0; i < sizeof(wells) / sizeof(wells[0]); i++)
		if (!wells[i])
			return (int)i + 1;
	return 0;
}

static void test_locked_in(void **state)
{
	struct options options = { .has_user = geteuid() == 0, .uid = 65534, .gid = 65534 };
	char folder[] = "/tmp/lock-test-XXXXXX";
	const char *what = NULL;
	int status = 0;
	pid_t pid;

	assert_non_null(mkdtemp(folder));
	assert_true(geteuid() != 0 || chown(folder, 65534, 65534) == 0);
	options.store_fd = store_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid = fork();
	if (pid == 0)
		_exit(lock_in(&options, &what) < 0 ? 100 : look());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	(void)close(store_fd);
	assert_int_equal(rmdir(folder), 0);
}

/* Root that is told no user stays out of it. */
static void test_root_is_refused(void **state)
{
	const struct options options = { .has_user = false, .store_fd = -1 };
	const char *what = NULL;

	if (geteuid() != 0)
		skip();
	assert_int_equal(lock_in(&options, &what), -EPERM);
	assert_string_equal(what, "user");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locked_in),
		cmocka_unit_test(test_root_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
