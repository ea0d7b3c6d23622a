#include "base/fd.h"

#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_close_keeps_errno_and_takes_none(void **state)
{
	errno = ENOTTY;
	assert_int_equal(fd_close(-1), -1);
	assert_int_equal(fd_close(9999), -1);
	assert_int_equal(errno, ENOTTY);
}

static void test_auto_close_closes_and_take_keeps(void **state)
{
	int kept, closed;

	{
		AUTO_CLOSE int a = open("/dev/null", O_RDONLY | O_CLOEXEC);
		AUTO_CLOSE int b = open("/dev/null", O_RDONLY | O_CLOEXEC);

		closed = a;
		kept = TAKE_FD(b);
		assert_int_equal(b, -1);
	}
	assert_int_equal(fcntl(closed, F_GETFD), -1);
	assert_true(fcntl(kept, F_GETFD) & FD_CLOEXEC);
	(void)fd_close(kept);
}

static void test_read_full_joins_parts_and_stops_at_the_end(void **state)
{
	char text[16] = "";
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(fd_write_full(fds[1], "abc", 3), 0);
	assert_int_equal(fd_write_full(fds[1], "defgh", 5), 0);
	assert_int_equal(fd_read_full(fds[0], text, 6), 6);
	assert_memory_equal(text, "abcdef", 6);
	(void)fd_close(fds[1]);
	assert_int_equal(fd_read_full(fds[0], text, 6), 2);
	(void)fd_close(fds[0]);
}

static void test_nonblocking_read_returns_eagain(void **state)
{
	char c;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(fd_set_nonblocking(fds[0]), 0);
	assert_int_equal(fd_read_full(fds[0], &c, 1), -EAGAIN);
	(void)fd_close(fds[0]);
	(void)fd_close(fds[1]);
	assert_int_equal(fd_set_nonblocking(-1), -EBADF);
}

static void test_dup_above_is_above_and_close_on_exec(void **state)
{
	AUTO_CLOSE int fd = fd_dup_above(0, 100);

	assert_true(fd >= 100);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fd_dup_above(-1, 3), -EBADF);
}

static void test_sealed_memfd_cannot_change(void **state)
{
	AUTO_CLOSE int fd = -1;
	char text[8] = "";

	assert_int_equal(fd_memfd_sealed("test", "hello", 5, &fd), 0);
	assert_true(fd_is_sealed(fd));
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fd_read_full(fd, text, 8), 5);
	assert_string_equal(text, "hello");
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, 100), -1);
	assert_ptr_equal(mmap(NULL, 5, PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
}

static void test_other_descriptors_are_not_sealed(void **state)
{
	AUTO_CLOSE int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int open_memfd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	AUTO_CLOSE int half = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(fcntl(half, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW), 0);
	assert_false(fd_is_sealed(null));
	assert_false(fd_is_sealed(open_memfd));
	assert_false(fd_is_sealed(half));
	assert_false(fd_is_sealed(-1));
}

static void test_files_are_read_whole_or_refused(void **state)
{
	char folder[] = "/tmp/cloche-fd-XXXXXX", text[8];
	AUTO_CLOSE int dirfd = -1;
	AUTO_CLOSE int fd = -1;

	assert_non_null(mkdtemp(folder));
	dirfd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fd_write_file(dirfd, "limit", "max"), -ENOENT);
	fd = openat(dirfd, "limit", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(fd_write_file(dirfd, "limit", "1234567"), 0);
	assert_int_equal(fd_read_file(dirfd, "limit", text, 8), 7);
	assert_string_equal(text, "1234567");
	assert_int_equal(fd_read_file(dirfd, "limit", text, 7), -EFBIG);
	assert_int_equal(fd_read_file(dirfd, "limit", text, 0), -EFBIG);
	assert_int_equal(fd_read_file(dirfd, "none", text, 8), -ENOENT);
	assert_int_equal(unlinkat(dirfd, "limit", 0), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* In a child, which tells by its status. */
static void test_missing_standard_streams_are_filled(void **state)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)close(STDIN_FILENO);
		(void)close(STDERR_FILENO);
		_exit(fd_standard_fill() == 0 && fcntl(STDIN_FILENO, F_GETFD) == 0 &&
					fcntl(STDERR_FILENO, F_GETFD) == 0
				? 0
				: 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close_keeps_errno_and_takes_none),
		cmocka_unit_test(test_auto_close_closes_and_take_keeps),
		cmocka_unit_test(test_read_full_joins_parts_and_stops_at_the_end),
		cmocka_unit_test(test_nonblocking_read_returns_eagain),
		cmocka_unit_test(test_dup_above_is_above_and_close_on_exec),
		cmocka_unit_test(test_sealed_memfd_cannot_change),
		cmocka_unit_test(test_other_descriptors_are_not_sealed),
		cmocka_unit_test(test_files_are_read_whole_or_refused),
		cmocka_unit_test(test_missing_standard_streams_are_filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
