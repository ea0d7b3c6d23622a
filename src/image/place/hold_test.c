#include "image/place/hold.h"

#include "base/fd.h"
#include "base/str.h"
#include "base/unit.h"
#include "image/place/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char image[] = "/tmp/cloche-hold-XXXXXX";
static char manifest[128];

static void folder(const char *name)
{
	char path[128];

	assert_int_equal(str_format(path, sizeof(path), "%s%s", image, name), 0);
	assert_int_equal(mkdir(path, 0755), 0);
}

static int image_make(void **state)
{
	int fd;

	assert_non_null(mkdtemp(image));
	folder("/usr");
	folder("/usr/share");
	folder(IMAGE_SHARE_DIR);
	assert_int_equal(str_format(manifest, sizeof(manifest), "%s" IMAGE_MANIFEST, image), 0);
	fd = open(manifest, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	(void)close(fd);
	return 0;
}

static int image_drop(void **state)
{
	static const char *const folders[] = { IMAGE_SHARE_DIR, "/usr/share", "/usr", "" };
	char path[128];

	assert_int_equal(unlink(manifest), 0);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		assert_int_equal(str_format(path, sizeof(path), "%s%s", image, folders[i]), 0);
		assert_int_equal(rmdir(path), 0);
	}
	return 0;
}

static void test_shares_go_together_and_a_claim_alone(void **state)
{
	int one = image_hold(image), two = image_hold(image), claim;

	assert_true(one >= 0 && two >= 0);
	assert_int_equal(image_claim(image, IMAGE_CLAIM_NOW), -EBUSY);
	(void)close(one);
	assert_int_equal(image_claim(image, IMAGE_CLAIM_NOW), -EBUSY);
	(void)close(two);
	claim = image_claim(image, IMAGE_CLAIM_NOW);
	assert_true(claim >= 0);
	assert_int_equal(image_hold(image), -EBUSY);
	(void)close(claim);
}

/* What a user can do who may open the image for reading only. */
static void test_a_reader_keeps_nobody_from_the_image(void **state)
{
	const char *const paths[] = { image, manifest };
	struct flock alone = { .l_type = F_WRLCK };
	int fds[2], fd;

	for (int i = 0; i < 2; i++) {
		fds[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
		assert_true(fds[i] >= 0);
		assert_int_equal(flock(fds[i], LOCK_EX | LOCK_NB), 0);
	}
	assert_int_equal(fcntl(fds[1], F_OFD_SETLK, &alone), -1);
	assert_int_equal(errno, EBADF);
	fd = image_hold(image);
	assert_true(fd >= 0);
	(void)close(fd);
	for (int i = 0; i < 2; i++)
		(void)close(fds[i]);
}

static void test_only_what_has_no_manifest_is_no_image(void **state)
{
	char path[PATH_MAX + 1];

	assert_int_equal(image_hold("/proc/self"), -ENOENT);
	assert_int_equal(image_hold("/proc/self/status"), -ENOENT);
	memset(path, '/', PATH_MAX);
	path[PATH_MAX] = '\0';
	assert_int_equal(image_hold(path), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares_go_together_and_a_claim_alone),
		cmocka_unit_test(test_a_reader_keeps_nobody_from_the_image),
		cmocka_unit_test(test_only_what_has_no_manifest_is_no_image),
	};

	return cmocka_run_group_tests(tests, image_make, image_drop);
}
