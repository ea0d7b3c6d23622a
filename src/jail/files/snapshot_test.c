#include "jail/files/snapshot.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void record(struct buf *b, const char *path)
{
	char padding[8] = { 0 };
	struct listing_entry entry = { .path_size = (uint16_t)strlen(path), .links = 1 };

	entry.record_size = (uint32_t)listing_record_size(entry.path_size);
	assert_int_equal(buf_add(b, &entry, sizeof(entry)), 0);
	assert_int_equal(buf_add_str(b, path), 0);
	assert_int_equal(buf_add(b, padding, (8 - strlen(path) % 8) % 8), 0);
}

static int load(const struct buf *b, struct snapshot *ret_snapshot)
{
	AUTO_CLOSE int fd = -1;

	assert_int_equal(fd_memfd_sealed("listing", buf_get_cstr(b), b->len, &fd), 0);
	return snapshot_load(fd, b->len, false, ret_snapshot);
}

static void test_records_are_sorted_by_bytes(void **state)
{
	AUTO_BUF struct buf b = BUF_INIT(4096);
	struct snapshot snapshot;

	record(&b, "z");
	record(&b, "a/b");
	record(&b, "a");
	record(&b, "\xff");
	assert_int_equal(load(&b, &snapshot), 0);
	assert_int_equal(snapshot.n, 4);
	assert_true(str_eq(snapshot.entries[0].path, STR("a")));
	assert_true(str_eq(snapshot.entries[1].path, STR("a/b")));
	assert_true(str_eq(snapshot.entries[3].path, STR("\xff")));
	snapshot_fini(&snapshot);
}

static void test_an_empty_home_is_an_empty_listing(void **state)
{
	AUTO_BUF struct buf b = BUF_INIT(16);
	struct snapshot snapshot;

	assert_int_equal(load(&b, &snapshot), 0);
	assert_int_equal(snapshot.n, 0);
	snapshot_fini(&snapshot);
}

static void test_a_broken_listing_is_refused(void **state)
{
	AUTO_BUF struct buf b = BUF_INIT(4096);
	struct snapshot snapshot;

	record(&b, "good");
	record(&b, "cut");
	b.len -= 8;
	assert_int_equal(load(&b, &snapshot), -EBADMSG);
	buf_clear(&b);
	assert_int_equal(buf_add_str(&b, "this is no listing at all, but text"), 0);
	assert_int_equal(load(&b, &snapshot), -EBADMSG);
}

static void test_what_could_shrink_is_refused(void **state)
{
	AUTO_CLOSE int fd = memfd_create("unsealed", MFD_CLOEXEC);
	struct snapshot snapshot;

	assert_int_equal(ftruncate(fd, 64), 0);
	assert_int_equal(snapshot_load(fd, 64, false, &snapshot), -EBADMSG);
}

static void test_a_wrong_size_is_refused(void **state)
{
	AUTO_CLOSE int fd = -1;
	struct snapshot snapshot;

	assert_int_equal(fd_memfd_sealed("listing", "", 0, &fd), 0);
	assert_int_equal(snapshot_load(fd, 4096, false, &snapshot), -EBADMSG);
	assert_int_equal(snapshot_load(fd, UINT64_MAX, false, &snapshot), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_are_sorted_by_bytes),
		cmocka_unit_test(test_an_empty_home_is_an_empty_listing),
		cmocka_unit_test(test_a_broken_listing_is_refused),
		cmocka_unit_test(test_what_could_shrink_is_refused),
		cmocka_unit_test(test_a_wrong_size_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
