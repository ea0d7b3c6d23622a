#include "image/place/place.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static char place[64], lock_path[96];

static int set_up(void **state)
{
	(void)str_copy(place, sizeof(place), "/tmp/place-test-XXXXXX");
	if (!mkdtemp(place))
		return -1;
	(void)str_format(lock_path, sizeof(lock_path), "%s/.cloche-lock", place);
	return chmod(place, 0755);
}

static int tear_down(void **state)
{
	return rmdir(place);
}

/* What open(2) of the lock's file says to another user of the machine; 0 if it opens. */
static int open_as_other(void)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		int fd;

		if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
			_exit(0);
		fd = open(lock_path, O_RDONLY | O_CLOEXEC);
		_exit(fd >= 0 ? 0 : errno);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A flock needs no more than the right to read, so the folder itself must not be what is locked. */
static void test_a_reader_of_the_place_keeps_nobody_out(void **state)
{
	AUTO_CLOSE int reader = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int lock;

	assert_int_equal(flock(reader, LOCK_EX | LOCK_NB), 0);
	lock = image_lock(place);
	assert_true(lock >= 0);
	assert_int_equal(stat(lock_path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	if (geteuid() == 0)
		assert_int_equal(open_as_other(), EACCES);
	assert_int_equal(image_lock(place), -EBUSY);
	image_unlock(place, lock);
	assert_int_equal(stat(lock_path, &st), -1);
	lock = image_lock(place);
	assert_true(lock >= 0);
	image_unlock(place, lock);
}

/* Whoever opened the file before it lost its name must not take it for the lock. */
static void test_a_file_that_lost_its_name_locks_nothing(void **state)
{
	int first = image_lock(place), second;
	AUTO_CLOSE int late = open(lock_path, O_RDWR | O_CLOEXEC);

	assert_true(first >= 0 && late >= 0);
	image_unlock(place, first);
	assert_int_equal(flock(late, LOCK_EX | LOCK_NB), 0);
	second = image_lock(place);
	assert_true(second >= 0);
	image_unlock(place, second);
}

static void test_no_link_is_followed(void **state)
{
	assert_int_equal(symlink("/etc/passwd", lock_path), 0);
	assert_int_equal(image_lock(place), -ELOOP);
	assert_int_equal(unlink(lock_path), 0);
}

static void test_a_folder_that_cannot_be_read_is_told(void **state)
{
	struct image_id ids[IMAGES_MAX];
	char path[PATH_MAX] = "", nowhere[96], file[96];
	int fd;

	(void)str_format(nowhere, sizeof(nowhere), "%s/nowhere", place);
	(void)str_format(file, sizeof(file), "%s/file", place);
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	(void)fd_close(fd);
	assert_int_equal(image_list(place, ids), 0);
	assert_int_equal(image_list(nowhere, ids), 0); /* there never was an image */
	assert_int_equal(image_list(file, ids), -ENOTDIR);
	assert_int_equal(image_lock(nowhere), -ENOENT);
	assert_int_equal(image_remains_remove(place, path), 0);
	assert_int_equal(image_remains_remove(file, path), -ENOTDIR);
	assert_string_equal(path, file);
	assert_int_equal(image_remains_remove(nowhere, path), -ENOENT);
	assert_int_equal(unlink(file), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_reader_of_the_place_keeps_nobody_out),
		TEST(test_a_file_that_lost_its_name_locks_nothing),
		TEST(test_no_link_is_followed),
		TEST(test_a_folder_that_cannot_be_read_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
