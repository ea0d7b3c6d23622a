#include "base/beneath.h"

#include "base/fd.h"
#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/cloche-beneath-XXXXXX";
static int home = -1;

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int make_home(void **state)
{
	int fd;

	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	if (!mkdtemp(folder))
		return -1;
	home = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = openat(home, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_full(fd, "data", 4) < 0)
		return -1;
	(void)fd_close(fd);
	if (mkdirat(home, "sub", 0700) < 0 || mkfifoat(home, "fifo", 0600) < 0)
		return -1;
	if (symlinkat("/etc", home, "out") < 0 || symlinkat("file", home, "in") < 0)
		return -1;
	return 0;
}

static int remove_home(void **state)
{
	home = fd_close(home);
	return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void test_opens_what_is_beneath(void **state)
{
	AUTO_CLOSE int fd = -1;
	AUTO_CLOSE int made = -1;
	char text[8] = "";

	assert_int_equal(beneath_open_regular(home, "file", &fd), 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fd_read_full(fd, text, 8), 4);
	assert_string_equal(text, "data");
	made = beneath_open(home, "sub/new", O_CREAT | O_EXCL | O_WRONLY, 0600);
	assert_true(made >= 0);
}

static void test_every_way_out_is_refused(void **state)
{
	static const struct {
		const char *path;
		int error;
	} rows[] = {
		{ "", -EINVAL },
		{ "/etc/passwd", -EXDEV },
		{ "..", -EXDEV },
		{ "sub/../../x", -EXDEV },
		{ "out/passwd", -ELOOP },
		{ "in", -ELOOP },
		{ "none", -ENOENT },
		{ "file/x", -ENOTDIR },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(beneath_open(home, rows[i].path, O_RDONLY, 0), rows[i].error);
}

static void test_another_mount_is_refused(void **state)
{
	AUTO_CLOSE int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(beneath_open(root, "proc/version", O_RDONLY, 0), -EXDEV);
}

static void test_only_regular_files_are_read(void **state)
{
	int fd = -1;

	assert_int_equal(beneath_open_regular(home, "fifo", &fd), -EINVAL);
	assert_int_equal(beneath_open_regular(home, "sub", &fd), -EINVAL);
	assert_int_equal(fd, -1);
}

static void test_long_paths_are_refused(void **state)
{
	static char path[BENEATH_PATH_MAX + 1];
	char name[NAME_MAX + 1];
	int fd;

	memset(path, 'a', BENEATH_PATH_MAX);
	assert_int_equal(beneath_open(home, path, O_RDONLY, 0), -ENAMETOOLONG);
	assert_int_equal(beneath_open_parent(home, path, NULL, name, &fd), -ENAMETOOLONG);
	path[NAME_MAX + 1] = '\0';
	assert_int_equal(beneath_open_parent(home, path, NULL, name, &fd), -ENAMETOOLONG);
	path[NAME_MAX] = '\0';
	assert_int_equal(beneath_open_parent(home, path, NULL, name, &fd), 0);
	assert_int_equal(strlen(name), NAME_MAX);
	(void)fd_close(fd);
}

static void test_parent_is_opened(void **state)
{
	AUTO_CLOSE int fd = -1;
	char name[NAME_MAX + 1];
	struct stat a, b;

	assert_int_equal(beneath_open_parent(home, "sub/new.txt", NULL, name, &fd), 0);
	assert_string_equal(name, "new.txt");
	assert_int_equal(fstat(fd, &a), 0);
	assert_int_equal(fstatat(home, "sub", &b, 0), 0);
	assert_int_equal(a.st_ino, b.st_ino);
	fd = fd_close(fd);
	assert_int_equal(beneath_open_parent(home, "missing/x", NULL, name, &fd), -ENOENT);
}

static void test_missing_folders_are_made_for_their_owner(void **state)
{
	const struct beneath_owner owner = { .uid = geteuid() == 0 ? 4321 : geteuid(),
		.gid = geteuid() == 0 ? 1234 : getegid() };
	AUTO_CLOSE int fd = -1;
	char name[NAME_MAX + 1];
	struct stat st;

	assert_int_equal(beneath_open_parent(home, "sub/a/b/c.txt", &owner, name, &fd), 0);
	assert_int_equal(fstatat(home, "sub/a/b", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(st.st_uid, owner.uid);
	assert_int_equal(st.st_gid, owner.gid);
	/* What was there keeps its owner. */
	assert_int_equal(fstatat(home, "sub", &st, 0), 0);
	assert_int_equal(st.st_uid, geteuid());
}

static void test_parent_refuses_odd_paths(void **state)
{
	static const struct {
		const char *path;
		int error;
	} rows[] = {
		{ "", -EINVAL },
		{ ".", -EINVAL },
		{ "..", -EINVAL },
		{ "/", -EINVAL },
		{ "/x", -EINVAL },
		{ "sub/", -EINVAL },
		{ "sub//x", -EINVAL },
		{ "sub/.", -EINVAL },
		{ "sub/..", -EINVAL },
		{ "sub/../x", -EINVAL },
		{ "./x", -EINVAL },
		{ "file/x", -ENOTDIR },
		{ "out/x", -ELOOP },
	};
	const struct beneath_owner owner = { geteuid(), getegid() };
	char name[NAME_MAX + 1];
	int fd = -1;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int r = beneath_open_parent(home, rows[i].path, &owner, name, &fd);

		/* A symlink where a folder must be: the kernel may name either reason first. */
		if (rows[i].error == -ELOOP && r == -ENOTDIR)
			continue;
		assert_int_equal(r, rows[i].error);
	}
	assert_int_equal(fd, -1);
}

#define AT_HOME(test) cmocka_unit_test_setup_teardown(test, make_home, remove_home)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AT_HOME(test_opens_what_is_beneath),
		AT_HOME(test_every_way_out_is_refused),
		AT_HOME(test_another_mount_is_refused),
		AT_HOME(test_only_regular_files_are_read),
		AT_HOME(test_long_paths_are_refused),
		AT_HOME(test_parent_is_opened),
		AT_HOME(test_missing_folders_are_made_for_their_owner),
		AT_HOME(test_parent_refuses_odd_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
