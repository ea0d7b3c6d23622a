#include "jail/files/collect.h"

#include "base/fd.h"
#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A folder of the host for each test, and a script's file to take out. */
struct scene {
	char folder[32];
	int out_fd;
	int from_fd;
	struct collected done;
};

static int scene_start(void **state)
{
	static struct scene scene;

	(void)str_copy(scene.folder, sizeof(scene.folder), "/tmp/collect-test-XXXXXX");
	if (!mkdtemp(scene.folder))
		return -1;
	scene.out_fd = open(scene.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	scene.from_fd = memfd_create("from", MFD_CLOEXEC);
	(void)umask(022);
	*state = &scene;
	return scene.out_fd < 0 || fd_write_full(scene.from_fd, "content", 7) < 0 ? -1 : 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	return remove(path);
}

static int scene_end(void **state)
{
	struct scene *scene = *state;

	(void)fd_close(scene->out_fd);
	(void)fd_close(scene->from_fd);
	return nftw(scene->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static int collect(struct scene *scene, struct str path, uint32_t mode)
{
	const struct collect_request request = { .out_fd = scene->out_fd,
		.path = path,
		.mode = mode,
		.from_fd = scene->from_fd,
		.max_bytes = 1 << 20 };

	assert_int_equal(lseek(scene->from_fd, 0, SEEK_SET), 0);
	return collect_file(&request, &scene->done);
}

static void holds(struct scene *scene, const char *path, const char *expected, mode_t mode)
{
	char text[32] = "";
	struct stat st;

	assert_true(fd_read_file(scene->out_fd, path, text, sizeof(text)) >= 0);
	assert_string_equal(text, expected);
	assert_int_equal(fstatat(scene->out_fd, path, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode, S_IFREG | mode);
}

static void write_file(struct scene *scene, const char *path, const char *text)
{
	AUTO_CLOSE int fd = openat(scene->out_fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(fd_write_full(fd, text, strlen(text)), 0);
}

static void test_folders_are_kept(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(collect(scene, STR("a/b/chart.png"), 0600), 0);
	assert_string_equal(scene->done.path, "a/b/chart.png");
	assert_int_equal(scene->done.size_bytes, 7);
	assert_string_equal(scene->done.mime, "text/plain");
	holds(scene, "a/b/chart.png", "content", 0644);
	assert_int_equal(collect(scene, STR("a/b/other"), 0600), 0);
}

static void test_nothing_is_overwritten(void **state)
{
	struct scene *scene = *state;

	write_file(scene, "x.txt", "mine");
	assert_int_equal(collect(scene, STR("x.txt"), 0644), 0);
	assert_string_equal(scene->done.path, "x (2).txt");
	assert_int_equal(collect(scene, STR("x.txt"), 0644), 0);
	assert_string_equal(scene->done.path, "x (3).txt");
	holds(scene, "x.txt", "mine", 0600);
	holds(scene, "x (2).txt", "content", 0644);
	/* A link that points nowhere is a taken name too, and is not written through. */
	assert_int_equal(symlinkat("target", scene->out_fd, "l"), 0);
	assert_int_equal(collect(scene, STR("l"), 0644), 0);
	assert_string_equal(scene->done.path, "l (2)");
	assert_int_equal(faccessat(scene->out_fd, "target", F_OK, 0), -1);
}

static void test_a_scripts_modes_are_not_taken_over(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(collect(scene, STR("set"), 06777), 0);
	holds(scene, "set", "content", 0755);
	assert_int_equal(collect(scene, STR("none"), 0), 0);
	holds(scene, "none", "content", 0644);
	(void)umask(077);
	assert_int_equal(collect(scene, STR("dir/private"), 0777), 0);
	holds(scene, "dir/private", "content", 0700);
}

static void test_no_way_out(void **state)
{
	static const char *const paths[] = { "/etc/x", "../x", "a/../x", "..", ".", "./x", "a//x",
		"a/", "/", "a/.", "a/.." };
	struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(collect(scene, str_from(paths[i]), 0644), -EINVAL);
	assert_int_equal(collect(scene, STR(""), 0644), -ENAMETOOLONG);
}

static void test_links_are_not_followed(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(symlinkat("/tmp", scene->out_fd, "link"), 0);
	assert_true(collect(scene, STR("link/x"), 0644) < 0);
	assert_int_equal(mkdirat(scene->out_fd, "real", 0755), 0);
	assert_int_equal(symlinkat("real", scene->out_fd, "inside"), 0);
	assert_true(collect(scene, STR("inside/x"), 0644) < 0);
	assert_int_equal(faccessat(scene->out_fd, "real/x", F_OK, 0), -1);
}

static void test_a_file_in_place_of_a_folder(void **state)
{
	struct scene *scene = *state;

	write_file(scene, "file", "mine");
	assert_int_equal(collect(scene, STR("file/x"), 0644), -ENOTDIR);
	holds(scene, "file", "mine", 0600);
}

static void test_names_are_bytes(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(collect(scene, STR("line\nbreak\x1b[31m"), 0644), 0);
	assert_int_equal(collect(scene, STR("\xff\xfe.csv"), 0644), 0);
	assert_string_equal(scene->done.mime, "text/csv");
	assert_int_equal(collect(scene, STR("-rf"), 0644), 0);
	assert_int_equal(collect(scene, STR("Выручка 📈 (по-русски).png"), 0644), 0);
	holds(scene, "\xff\xfe.csv", "content", 0644);
}

static void test_a_name_of_255_bytes(void **state)
{
	struct scene *scene = *state;
	char name[300];

	memset(name, 'n', sizeof(name));
	assert_int_equal(collect(scene, (struct str){ name, 255 }, 0644), 0);
	assert_int_equal(collect(scene, (struct str){ name, 255 }, 0644), 0); /* numbered */
	assert_int_equal(strlen(scene->done.path), 255);
	assert_int_equal(collect(scene, (struct str){ name, 256 }, 0644), -ENAMETOOLONG);
}

static void test_a_copy_that_fails_leaves_nothing(void **state)
{
	struct scene *scene = *state;
	AUTO_CLOSE int folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct collect_request request = { .out_fd = scene->out_fd,
		.path = STR("gone"),
		.mode = 0644,
		.from_fd = folder,
		.max_bytes = 1 << 20 };

	assert_int_equal(collect_file(&request, &scene->done), -EISDIR);
	assert_int_equal(faccessat(scene->out_fd, "gone", F_OK, 0), -1);
}

/* From now on the host's file system says EPERM to each new link, as some do. */
static int links_forbid(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_linkat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ARRAY_SIZE(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

static void test_what_the_host_forbids_is_not_our_own_refusal(void **state)
{
	struct scene *scene = *state;
	int status;
	pid_t pid;

	assert_int_equal(collect(scene, STR("a/.git/config"), 0644), COLLECT_REFUSED);
	assert_int_equal(collect(scene, STR(".GIT./x"), 0644), COLLECT_REFUSED);
	pid = fork();
	if (pid == 0)
		_exit(links_forbid() == 0 && collect(scene, STR("x"), 0644) == -EPERM ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_start, scene_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_the_host_forbids_is_not_our_own_refusal),
		TEST(test_folders_are_kept),
		TEST(test_nothing_is_overwritten),
		TEST(test_a_scripts_modes_are_not_taken_over),
		TEST(test_no_way_out),
		TEST(test_links_are_not_followed),
		TEST(test_a_file_in_place_of_a_folder),
		TEST(test_names_are_bytes),
		TEST(test_a_name_of_255_bytes),
		TEST(test_a_copy_that_fails_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
