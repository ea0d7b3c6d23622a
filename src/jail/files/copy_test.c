#include "jail/files/copy.h"

#include "base/fd.h"
#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE (3u << 20)

static int file_make(const char *folder)
{
	int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	char block[4096];

	assert_true(fd >= 0);
	for (unsigned i = 0; i < SIZE / sizeof(block); i++) {
		memset(block, (int)('a' + i % 26), sizeof(block));
		assert_int_equal(fd_write_full(fd, block, sizeof(block)), 0);
	}
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void same(int a, int b)
{
	char left[4096], right[4096];

	for (off_t at = 0; at < SIZE; at += (off_t)sizeof(left)) {
		assert_int_equal(pread(a, left, sizeof(left), at), sizeof(left));
		assert_int_equal(pread(b, right, sizeof(right), at), sizeof(right));
		assert_memory_equal(left, right, sizeof(left));
	}
}

static void test_between_files_of_one_and_of_two_kinds(void **state)
{
	AUTO_CLOSE int from = file_make("/tmp");
	AUTO_CLOSE int near = open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	AUTO_CLOSE int far = memfd_create("far", MFD_CLOEXEC);
	uint64_t bytes = 0;

	assert_int_equal(copy_all(from, near, SIZE, &bytes), 0);
	assert_int_equal(bytes, SIZE);
	same(from, near);
	assert_int_equal(lseek(from, 0, SEEK_SET), 0);
	assert_int_equal(copy_all(from, far, SIZE, &bytes), 0);
	same(from, far);
}

static void test_from_a_pipe(void **state)
{
	AUTO_CLOSE int to = memfd_create("to", MFD_CLOEXEC);
	uint64_t bytes = 0;
	char text[8];
	int pair[2];

	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	assert_int_equal(fd_write_full(pair[1], "piped", 5), 0);
	(void)fd_close(pair[1]);
	assert_int_equal(copy_all(pair[0], to, 100, &bytes), 0);
	assert_int_equal(bytes, 5);
	assert_int_equal(pread(to, text, sizeof(text), 0), 5);
	assert_memory_equal(text, "piped", 5);
	(void)fd_close(pair[0]);
}

/* procfs says size 0 and has bytes: copy_file_range(2), BUGS. */
static void test_from_a_pseudo_file(void **state)
{
	AUTO_CLOSE int from = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int to = memfd_create("to", MFD_CLOEXEC);
	uint64_t bytes = 0;

	assert_int_equal(copy_all(from, to, 1 << 20, &bytes), 0);
	assert_true(bytes > 100);
}

static void test_an_empty_file(void **state)
{
	AUTO_CLOSE int from = memfd_create("from", MFD_CLOEXEC);
	AUTO_CLOSE int to = memfd_create("to", MFD_CLOEXEC);
	uint64_t bytes = 7;

	assert_int_equal(copy_all(from, to, 0, &bytes), 0);
	assert_int_equal(bytes, 0);
}

static void test_too_much_is_said(void **state)
{
	AUTO_CLOSE int from = file_make("/tmp");
	AUTO_CLOSE int to = memfd_create("to", MFD_CLOEXEC);
	uint64_t bytes;

	assert_int_equal(copy_all(from, to, SIZE - 1, &bytes), -EFBIG);
}

static void test_a_full_device_is_said(void **state)
{
	AUTO_CLOSE int from = file_make("/tmp");
	AUTO_CLOSE int to = open("/dev/full", O_WRONLY | O_CLOEXEC);
	uint64_t bytes;

	assert_int_equal(copy_all(from, to, SIZE, &bytes), -ENOSPC);
}

/* A sparse file of a script must not fill the person's disk. */
static void holes_stay_holes(void **state)
{
	AUTO_CLOSE int from = memfd_create("from", MFD_CLOEXEC);
	AUTO_CLOSE int to = memfd_create("to", MFD_CLOEXEC);
	uint64_t bytes = 0, size = 0;
	struct stat status;
	char byte = 0;

	(void)state;
	assert_int_equal(ftruncate(from, 64 << 20), 0);
	assert_int_equal(pwrite(from, "x", 1, 32 << 20), 1);
	assert_int_equal(copy_sparse(from, to, 1 << 20, &bytes, &size), 0);
	assert_true(bytes > 0 && bytes <= 1 << 20);
	assert_int_equal(size, 64 << 20);
	assert_int_equal(fstat(to, &status), 0);
	assert_int_equal(status.st_size, 64 << 20);
	assert_true(status.st_blocks * 512 <= 1 << 20);
	assert_int_equal(pread(to, &byte, 1, 32 << 20), 1);
	assert_int_equal(byte, 'x');
	assert_int_equal(copy_sparse(from, to, 1, &bytes, &size), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_between_files_of_one_and_of_two_kinds),
		cmocka_unit_test(test_from_a_pipe),
		cmocka_unit_test(test_from_a_pseudo_file),
		cmocka_unit_test(test_an_empty_file),
		cmocka_unit_test(test_too_much_is_said),
		cmocka_unit_test(test_a_full_device_is_said),
		cmocka_unit_test(holes_stay_holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
