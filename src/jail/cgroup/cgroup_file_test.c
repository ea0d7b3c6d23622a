#include "jail/cgroup/cgroup_file.h"

#include "base/fd.h"
#include "base/macro.h"

#include "base/unit.h"
#include "jail/cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files of a cgroup tree, played by ordinary ones in a temporary folder. */

static char folder[32];
static int dirfd = -1;

static int folder_make(void **state)
{
	memcpy(folder, "/tmp/cloche-cgroup-XXXXXX", 26);
	if (!mkdtemp(folder))
		return -1;
	dirfd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return mkdirat(dirfd, "7", 0700);
}

static int folder_remove(void **state)
{
	(void)unlinkat(dirfd, "file", 0);
	(void)unlinkat(dirfd, "7/file", 0);
	(void)unlinkat(dirfd, "7", AT_REMOVEDIR);
	dirfd = fd_close(dirfd);
	return rmdir(folder);
}

static void file_put(const char *path, const char *text, size_t n)
{
	AUTO_CLOSE int fd = openat(dirfd, path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	assert_int_equal(fd_write_full(fd, text, n), 0);
}

static void assert_file(const char *path, const char *text)
{
	char got[64];

	assert_true(fd_read_file(dirfd, path, got, sizeof(got)) >= 0);
	assert_string_equal(got, text);
}

static int number_of(const char *text, const char *key, uint64_t *ret)
{
	*ret = 4711;
	file_put("file", text, strlen(text));
	return cgroup_file_number(dirfd, "file", key, ret);
}

static void test_a_file_with_one_number(void **state)
{
	uint64_t number;

	assert_int_equal(number_of("12345\n", NULL, &number), 0);
	assert_int_equal(number, 12345);
	assert_int_equal(number_of("0", NULL, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(number_of("18446744073709551615\n", NULL, &number), 0);
	assert_int_equal(number, UINT64_MAX);
	assert_int_equal(number_of("max\n", NULL, &number), 0);
	assert_int_equal(number, UINT64_MAX);
}

static void test_what_is_no_number_is_an_error_and_sets_nothing(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{ "", -EINVAL },
		{ "\n", -EINVAL },
		{ "-1\n", -EINVAL },
		{ "12 34\n", -EINVAL },
		{ "maximum\n", -EINVAL },
		{ " 12\n", -EINVAL },
		{ "18446744073709551616\n", -ERANGE },
	};
	uint64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(number_of(cases[i].text, NULL, &number), cases[i].error);
		assert_int_equal(number, 4711);
	}
}

static void test_keys_are_found_at_the_start_of_a_line(void **state)
{
	static const char stat[] = "anon 1\nfile 2\nshmem 3\nshmem_thp 4\nfile_mapped 5\nlast 6";
	uint64_t number;

	assert_int_equal(number_of(stat, "anon", &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(number_of(stat, "shmem", &number), 0);
	assert_int_equal(number, 3);
	assert_int_equal(number_of(stat, "shmem_thp", &number), 0);
	assert_int_equal(number, 4);
	assert_int_equal(number_of(stat, "last", &number), 0);
	assert_int_equal(number, 6);
	assert_int_equal(number_of("oom 0\noom_kill max\n", "oom_kill", &number), 0);
	assert_int_equal(number, UINT64_MAX);
	assert_int_equal(number_of("\n\n\nkey 9\n\n", "key", &number), 0);
	assert_int_equal(number, 9);
}

static void test_a_key_that_is_not_there(void **state)
{
	static const char *const texts[] = { "", "\n", "shmem_thp 4\n", "xshmem 4\n", " shmem 4\n",
		"shmem\t4\n", "shmem4\n", "shmem", "anon shmem 4\n", "sh" };
	uint64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(number_of(texts[i], "shmem", &number), -ENOENT);
		assert_int_equal(number, 4711);
	}
}

static void test_a_key_without_a_number(void **state)
{
	uint64_t number;

	assert_int_equal(number_of("shmem \n", "shmem", &number), -EINVAL);
	assert_int_equal(number_of("shmem x\n", "shmem", &number), -EINVAL);
	assert_int_equal(number_of("shmem  4\n", "shmem", &number), -EINVAL);
	assert_int_equal(number_of("shmem 4 \n", "shmem", &number), -EINVAL);
	assert_int_equal(number, 4711);
}

static void test_a_nul_ends_the_text(void **state)
{
	uint64_t number = 4711;

	file_put("file", "12\0shmem 4", 10);
	assert_int_equal(cgroup_file_number(dirfd, "file", NULL, &number), 0);
	assert_int_equal(number, 12);
	assert_int_equal(cgroup_file_number(dirfd, "file", "shmem", &number), -ENOENT);
}

static void test_files_that_cannot_be_read(void **state)
{
	static char large[20000];
	uint64_t number = 4711;

	assert_int_equal(cgroup_file_number(dirfd, "none", NULL, &number), -ENOENT);
	assert_int_equal(cgroup_file_number(-1, "none", NULL, &number), -EBADF);
	assert_int_equal(cgroup_file_number(dirfd, "7", NULL, &number), -EISDIR);
	memset(large, '1', sizeof(large));
	file_put("file", large, sizeof(large));
	assert_int_equal(cgroup_file_number(dirfd, "file", NULL, &number), -EFBIG);
	assert_int_equal(number, 4711);
}

static void test_numbers_are_written_in_decimal_to_files_that_exist(void **state)
{
	assert_int_equal(cgroup_file_set(dirfd, "file", 5), -ENOENT);
	file_put("file", "", 0);
	assert_int_equal(cgroup_file_set(dirfd, "file", UINT64_MAX), 0);
	assert_file("file", "18446744073709551615");
	file_put("file", "", 0);
	assert_int_equal(cgroup_file_set(dirfd, "file", 0), 0);
	assert_file("file", "0");
}

static void test_files_in_a_group(void **state)
{
	uint64_t number = 0;

	assert_int_equal(cgroup_file_set_in(dirfd, "7", "file", 5), -ENOENT);
	file_put("7/file", "", 0);
	assert_int_equal(cgroup_file_set_in(dirfd, "7", "file", 5), 0);
	assert_int_equal(cgroup_file_number_in(dirfd, "7", "file", NULL, &number), 0);
	assert_int_equal(number, 5);
	assert_int_equal(cgroup_file_write_in(dirfd, "7", "file", "100 1000"), 0);
	assert_file("7/file", "100 1000");
	assert_int_equal(cgroup_file_number_in(dirfd, "7", "file", "100", &number), 0);
	assert_int_equal(number, 1000);
	assert_int_equal(cgroup_file_number_in(dirfd, "8", "file", NULL, &number), -ENOENT);
}

static void test_a_name_that_does_not_fit_is_refused_and_not_cut(void **state)
{
	char name[2 * CGROUP_NAME_MAX + 8];
	uint64_t number = 0;

	memset(name, '7', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(cgroup_file_set_in(dirfd, name, "file", 5), -ENOSPC);
	assert_int_equal(cgroup_file_set_in(dirfd, "7", name, 5), -ENOSPC);
	assert_int_equal(cgroup_file_write_in(dirfd, name, "file", "5"), -ENOSPC);
	assert_int_equal(cgroup_file_number_in(dirfd, name, "file", NULL, &number), -ENOSPC);
}

static void test_a_file_that_is_kept_open_is_read_anew(void **state)
{
	uint64_t number = 4711;
	int fd = -1, kept;

	assert_int_equal(
		cgroup_held_number(&fd, &(struct cgroup_path){ dirfd, "7", "file" }, NULL, &number),
		-ENOENT);
	assert_int_equal(fd, -1);
	file_put("7/file", "a 1\nb 2\n", 8);
	assert_int_equal(
		cgroup_held_number(&fd, &(struct cgroup_path){ dirfd, "7", "file" }, "b", &number),
		0);
	assert_int_equal(number, 2);
	kept = fd;
	assert_true(kept >= 0);
	file_put("7/file", "a 1\nb 35\n", 9);
	assert_int_equal(
		cgroup_held_number(&fd, &(struct cgroup_path){ dirfd, "7", "file" }, "b", &number),
		0);
	assert_int_equal(number, 35);
	assert_int_equal(
		cgroup_held_number(&fd, &(struct cgroup_path){ dirfd, "7", "file" }, "c", &number),
		-ENOENT);
	file_put("7/file", "", 0);
	assert_int_equal(
		cgroup_held_number(&fd, &(struct cgroup_path){ dirfd, "7", "file" }, NULL, &number),
		-EINVAL);
	assert_int_equal(number, 35);
	assert_int_equal(fd, kept);
	(void)fd_close(fd);
}

static void test_a_file_that_is_kept_open_is_written_and_read(void **state)
{
	uint64_t number = 4711;
	int fd = -1;

	assert_int_equal(
		cgroup_held_write(&fd, &(struct cgroup_path){ dirfd, "7", "file" }, "1"), -ENOENT);
	file_put("7/file", "12", 2);
	assert_int_equal(
		cgroup_held_write(&fd, &(struct cgroup_path){ dirfd, "7", "file" }, "30"), 0);
	assert_file("7/file", "30");
	assert_int_equal(
		cgroup_held_number(&fd, &(struct cgroup_path){ dirfd, "7", "file" }, NULL, &number),
		0);
	assert_int_equal(number, 30);
	(void)fd_close(fd);
}

static void test_two_numbers_of_one_reading(void **state)
{
	static const char *const keys[2] = { "b", "a" };
	static const char *const wrong[2] = { "a", "c" };
	const struct cgroup_path path = { dirfd, "7", "file" };
	uint64_t numbers[2] = { 4711, 4711 };
	int fd = -1;

	assert_int_equal(cgroup_held_numbers(&fd, &path, keys, numbers), -ENOENT);
	file_put("7/file", "a 1\nb 2\n", 8);
	assert_int_equal(cgroup_held_numbers(&fd, &path, keys, numbers), 0);
	assert_int_equal(numbers[0], 2);
	assert_int_equal(numbers[1], 1);
	assert_int_equal(cgroup_held_numbers(&fd, &path, wrong, numbers), -ENOENT);
	(void)fd_close(fd);
}

static void test_what_is_known_of_an_empty_home_holds_for_one_run(void **state)
{
	struct cgroup_session session;

	cgroup_session_init(&session);
	assert_false(cgroup_shmem_known(&session, 0));
	session.shmem_known_bytes = 20;
	assert_true(cgroup_shmem_known(&session, 0));
	assert_int_equal(session.shmem_at_start_bytes, 20);
	assert_false(cgroup_shmem_known(&session, 0));
	session.shmem_known_bytes = 30;
	assert_false(cgroup_shmem_known(&session, 1)); /* no longer empty */
	assert_false(cgroup_shmem_known(&session, 0));
	assert_int_equal(session.shmem_at_start_bytes, 20);
}

static void test_kept_or_not_a_leaf_is_empty_or_not(void **state)
{
	int fd = -1;

	(void)mkdirat(dirfd, "7", 0700);
	file_put("7/cgroup.events", "populated 1\nfrozen 0\n", 21);
	assert_int_equal(cgroup_held_is_empty(&fd, dirfd, "7"), 0);
	assert_int_equal(cgroup_leaf_is_empty(dirfd, "7"), 0);
	file_put("7/cgroup.events", "populated 0\nfrozen 0\n", 21);
	assert_int_equal(cgroup_held_is_empty(&fd, dirfd, "7"), 1);
	assert_int_equal(cgroup_leaf_is_empty(dirfd, "7"), 1);
	assert_int_equal(unlinkat(dirfd, "7/cgroup.events", 0), 0);
	assert_int_equal(cgroup_leaf_is_empty(dirfd, "7"), -ENOENT);
	(void)fd_close(fd);
}

/* How much is in files, of a group that uses so much, with a home of so much. */
static uint64_t shmem_of(const char *used, uint64_t home_bytes)
{
	uint64_t bytes = 4711;
	int used_fd = -1, stat_fd = -1;
	const struct cgroup_held held = { { dirfd, "7", "file" }, { dirfd, "7", "stat" }, &used_fd,
		&stat_fd };

	file_put("7/file", used, strlen(used));
	file_put("7/stat", "cache 9\nshmem 1234\n", 19);
	assert_int_equal(cgroup_held_shmem(&held, home_bytes, &bytes), 0);
	assert_int_equal(unlinkat(dirfd, "7/stat", 0), 0);
	(void)fd_close(used_fd);
	(void)fd_close(stat_fd);
	return bytes;
}

static void test_files_in_memory_are_looked_for_where_they_can_matter(void **state)
{
	assert_int_equal(shmem_of("1048575\n", 0), 0);
	assert_int_equal(shmem_of("1048576\n", 0), 1234);
	assert_int_equal(shmem_of("5000000000\n", 0), 1234);
	assert_int_equal(shmem_of("1048575\n", 4096), 1234);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_a_file_with_one_number),
		IN_FOLDER(test_what_is_no_number_is_an_error_and_sets_nothing),
		IN_FOLDER(test_keys_are_found_at_the_start_of_a_line),
		IN_FOLDER(test_a_key_that_is_not_there),
		IN_FOLDER(test_a_key_without_a_number),
		IN_FOLDER(test_a_nul_ends_the_text),
		IN_FOLDER(test_files_that_cannot_be_read),
		IN_FOLDER(test_numbers_are_written_in_decimal_to_files_that_exist),
		IN_FOLDER(test_files_in_a_group),
		IN_FOLDER(test_a_file_that_is_kept_open_is_read_anew),
		IN_FOLDER(test_a_file_that_is_kept_open_is_written_and_read),
		IN_FOLDER(test_two_numbers_of_one_reading),
		IN_FOLDER(test_what_is_known_of_an_empty_home_holds_for_one_run),
		IN_FOLDER(test_kept_or_not_a_leaf_is_empty_or_not),
		IN_FOLDER(test_files_in_memory_are_looked_for_where_they_can_matter),
		IN_FOLDER(test_a_name_that_does_not_fit_is_refused_and_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
