#include "wire/listing.h"

#include "base/macro.h"

#include "base/unit.h"

#include <errno.h>

/* What a walker could write if a hostile home had taken it over. */

static _Alignas(8) char data[1 << 18];
static size_t size;

static struct listing_entry *record_add(const char *path, size_t path_size)
{
	struct listing_entry *entry = (struct listing_entry *)(void *)(data + size);

	memset(entry, 0, listing_record_size(path_size));
	entry->record_size = (uint32_t)listing_record_size(path_size);
	entry->path_size = (uint16_t)path_size;
	memcpy(data + size + sizeof(*entry), path, path_size);
	size += entry->record_size;
	return entry;
}

/* The first record of the listing as it is now. */
static int first_read(void)
{
	const struct listing_entry *entry;
	const char *path;
	size_t at = 0;

	return listing_next(data, size, &at, &entry, &path);
}

static int empty(void **state)
{
	size = 0;
	return 0;
}

static void test_record_sizes_are_padded_to_eight(void **state)
{
	assert_int_equal(sizeof(struct listing_entry) % 8, 0);
	assert_int_equal(listing_record_size(1), sizeof(struct listing_entry) + 8);
	assert_int_equal(listing_record_size(8), sizeof(struct listing_entry) + 8);
	assert_int_equal(listing_record_size(9), sizeof(struct listing_entry) + 16);
	assert_int_equal(listing_record_size(4096), sizeof(struct listing_entry) + 4096);
}

static void test_records_are_read_in_order(void **state)
{
	static const char *const paths[] = { "a", "folder", "folder/12345678", "\xff\n\x01" };
	const struct listing_entry *entry;
	const char *path;
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct listing_entry *added = record_add(paths[i], strlen(paths[i]));

		added->kind = (uint8_t)i;
		added->size_bytes = UINT64_MAX - i;
		added->mtime_ns = -1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_int_equal(listing_next(data, size, &at, &entry, &path), 1);
		assert_int_equal(entry->path_size, strlen(paths[i]));
		assert_memory_equal(path, paths[i], entry->path_size);
		assert_int_equal(entry->kind, i);
		assert_int_equal(entry->size_bytes, UINT64_MAX - i);
	}
	assert_int_equal(listing_next(data, size, &at, &entry, &path), 0);
	assert_int_equal(listing_next(data, size, &at, &entry, &path), 0);
	assert_int_equal(at, size);
}

static void test_an_empty_listing_has_no_records(void **state)
{
	assert_int_equal(first_read(), 0);
}

static void test_a_position_behind_the_end_is_refused(void **state)
{
	const struct listing_entry *entry;
	const char *path;
	size_t at = 8;

	assert_int_equal(listing_next(data, 0, &at, &entry, &path), -EBADMSG);
}

static void test_every_cut_of_a_record_is_refused(void **state)
{
	size_t whole;

	(void)record_add("a path of some length", 21);
	whole = size;
	for (size = 1; size < whole; size++)
		assert_int_equal(first_read(), -EBADMSG);
	assert_int_equal(first_read(), 1);
}

static void test_a_cut_second_record_is_refused_at_its_place(void **state)
{
	const struct listing_entry *entry;
	const char *path;
	size_t at = 0;

	(void)record_add("first", 5);
	(void)record_add("second", 6);
	size -= 8;
	assert_int_equal(listing_next(data, size, &at, &entry, &path), 1);
	assert_int_equal(listing_next(data, size, &at, &entry, &path), -EBADMSG);
}

static void test_record_sizes_must_be_those_of_the_path(void **state)
{
	static const uint32_t wrong[] = { 0, 1, 8, 72, 79, 81, 88, 0x80000000u, UINT32_MAX,
		UINT32_MAX - 7 };
	struct listing_entry *entry = record_add("abc", 3);

	(void)record_add("more behind it", 14);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		entry->record_size = wrong[i];
		assert_int_equal(first_read(), -EBADMSG);
	}
	entry->record_size = 80;
	assert_int_equal(first_read(), 1);
}

static void test_a_path_longer_than_its_bytes_is_refused(void **state)
{
	struct listing_entry *entry = record_add("abc", 3);

	entry->path_size = UINT16_MAX;
	entry->record_size = (uint32_t)listing_record_size(UINT16_MAX);
	assert_int_equal(first_read(), -EBADMSG);
	entry->path_size = 9;
	entry->record_size = (uint32_t)listing_record_size(9);
	assert_int_equal(first_read(), -EBADMSG);
}

static void test_the_longest_path_is_read(void **state)
{
	static char path[UINT16_MAX];

	memset(path, 'p', sizeof(path));
	(void)record_add(path, sizeof(path));
	assert_int_equal(first_read(), 1);
}

static void test_empty_paths_and_nuls_are_refused(void **state)
{
	struct listing_entry *entry = record_add("", 0);

	assert_int_equal(first_read(), -EBADMSG);
	size = 0;
	(void)record_add("a\0b", 3);
	assert_int_equal(first_read(), -EBADMSG);
	size = 0;
	(void)record_add("\0", 1);
	assert_int_equal(first_read(), -EBADMSG);
	size = 0;
	entry = record_add("ab", 2);
	entry->path_size = 3; /* the third byte is padding */
	assert_int_equal(first_read(), -EBADMSG);
}

static void test_where_links_point_to(void **state)
{
	struct listing_entry *entry = record_add("linktarget", 10);
	const struct listing_entry *read;
	const char *path;
	size_t at = 0;

	entry->path_size = 4;
	entry->target_size = 6;
	assert_int_equal(first_read(), -EBADMSG);
	entry->kind = LISTING_LINK;
	assert_int_equal(listing_next(data, size, &at, &read, &path), 1);
	assert_memory_equal(path + read->path_size, "target", 6);
	entry->target_size = 7; /* padding */
	assert_int_equal(first_read(), -EBADMSG);
	entry->target_size = 0xfffffffe; /* wraps */
	assert_int_equal(first_read(), -EBADMSG);
	entry->target_size = 6;
	entry->reserved = 1;
	assert_int_equal(first_read(), -EBADMSG);
}

static void test_unknown_kinds_are_refused(void **state)
{
	struct listing_entry *entry = record_add("a", 1);

	for (unsigned kind = 0; kind < 256; kind++) {
		entry->kind = (uint8_t)kind;
		assert_int_equal(first_read(), kind < LISTING_KIND_MAX ? 1 : -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_record_sizes_are_padded_to_eight, empty),
		cmocka_unit_test_setup(test_records_are_read_in_order, empty),
		cmocka_unit_test_setup(test_an_empty_listing_has_no_records, empty),
		cmocka_unit_test_setup(test_a_position_behind_the_end_is_refused, empty),
		cmocka_unit_test_setup(test_every_cut_of_a_record_is_refused, empty),
		cmocka_unit_test_setup(test_a_cut_second_record_is_refused_at_its_place, empty),
		cmocka_unit_test_setup(test_record_sizes_must_be_those_of_the_path, empty),
		cmocka_unit_test_setup(test_a_path_longer_than_its_bytes_is_refused, empty),
		cmocka_unit_test_setup(test_the_longest_path_is_read, empty),
		cmocka_unit_test_setup(test_empty_paths_and_nuls_are_refused, empty),
		cmocka_unit_test_setup(test_where_links_point_to, empty),
		cmocka_unit_test_setup(test_unknown_kinds_are_refused, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
