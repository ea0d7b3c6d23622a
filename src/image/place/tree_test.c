#include "image/place/tree.h"

#include "base/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/cloche-tree-XXXXXX";

static const char *at(const char *name)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static void folder(const char *name)
{
	assert_int_equal(mkdir(at(name), 0755), 0);
}

static void file(const char *name, mode_t mode)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

static int mode_of(const char *name)
{
	struct stat st;

	return lstat(at(name), &st) < 0 ? -1 : (int)(st.st_mode & 07777);
}

static void test_what_is_left_out_goes_and_the_rest_loses_rights(void **state)
{
	folder("usr");
	folder("usr/doc");
	folder("usr/doc/a");
	folder("usr/doc/b");
	folder("var");
	file("usr/doc/a/copyright", 0644);
	file("usr/doc/a/changelog", 0644);
	file("usr/doc/b/changelog", 0644);
	file("usr/su", 04755);
	file("usr/wall", 02755);
	file("usr/open", 0666);
	assert_int_equal(chmod(at("var"), 01777), 0);
	assert_int_equal(mkfifo(at("var/pipe"), 0600), 0);
	assert_int_equal(symlink("/etc/passwd", at("var/link")), 0);
	assert_int_equal(tree_strip(top, STR("# comment\n!usr/doc/*/copyright\nusr/doc/*\n")), 0);
	assert_int_equal(mode_of("usr/doc/a/copyright"), 0644);
	assert_int_equal(mode_of("usr/doc/a/changelog"), -1);
	assert_int_equal(mode_of("usr/doc/b"), -1);
	assert_int_equal(mode_of("usr/su"), 0755);
	assert_int_equal(mode_of("usr/wall"), 0755);
	assert_int_equal(mode_of("usr/open"), 0644);
	assert_int_equal(mode_of("var"), 0755);
	assert_int_equal(mode_of("var/pipe"), -1);
	assert_int_equal(mode_of("var/link"), 0777);
}

static void test_a_tree_is_measured_and_removed_but_no_link_is_followed(void **state)
{
	char outside[] = "/tmp/cloche-out-XXXXXX";
	struct tree_sum sum;
	struct stat st;

	assert_non_null(mkdtemp(outside));
	assert_int_equal(symlink(outside, at("away")), 0);
	assert_int_equal(tree_measure(top, &sum), 0);
	assert_int_equal(sum.files, 4);
	assert_true(sum.bytes > 0);
	assert_int_equal(tree_remove(top), 0);
	assert_int_equal(lstat(top, &st), -1);
	assert_int_equal(stat(outside, &st), 0);
	assert_int_equal(rmdir(outside), 0);
	assert_int_equal(tree_remove(top), 0); /* there is none: fine */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_left_out_goes_and_the_rest_loses_rights),
		cmocka_unit_test(test_a_tree_is_measured_and_removed_but_no_link_is_followed),
	};

	if (!mkdtemp(top))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
