#include "jail/files/changes.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A home for tests: entries in the order of their paths. */
struct home {
	struct listing_entry is[8];
	struct snapshot_entry entries[8];
	struct snapshot snapshot;
};

static struct listing_entry *put(struct home *home, const char *path)
{
	struct listing_entry *is = &home->is[home->snapshot.n];

	*is = (struct listing_entry){ .kind = LISTING_FILE,
		.mode = 0644,
		.links = 1,
		.size_bytes = 10,
		.inode = 100 + home->snapshot.n,
		.ctime_ns = 5 };
	home->entries[home->snapshot.n] =
		(struct snapshot_entry){ .path = str_from(path), .is = is };
	home->snapshot.entries = home->entries;
	home->snapshot.n++;
	return is;
}

/* The changes as one line, "created a; deleted b;". */
static void changed(const struct home *before, const struct home *after, const char *expected)
{
	struct changes changes;
	char line[256] = "";

	changes_find(before ? &before->snapshot : NULL, &after->snapshot, &changes);
	for (size_t i = 0; i < changes.n; i++) {
		size_t n = strlen(line);

		(void)snprintf(line + n, sizeof(line) - n, "%s %.*s;",
			change_name(changes.list[i].kind), STR_ARG(changes.list[i].path));
	}
	assert_string_equal(line, expected);
	changes_fini(&changes);
}

static void test_all_is_created_in_an_empty_home(void **state)
{
	struct home after = { 0 };

	put(&after, "a");
	put(&after, "dir")->kind = LISTING_FOLDER;
	put(&after, "dir/b");
	changed(NULL, &after, "created a;created dir/b;");
}

static void test_what_stayed_is_not_told(void **state)
{
	struct home before = { 0 }, after = { 0 };

	put(&before, "a");
	put(&after, "a");
	changed(&before, &after, "");
}

static void test_each_sign_of_a_change_counts(void **state)
{
	struct home before = { 0 }, after = { 0 };

	for (int i = 0; i < 4; i++) {
		put(&before, (const char *const[]){ "ctime", "inode", "size", "zero" }[i]);
		put(&after, (const char *const[]){ "ctime", "inode", "size", "zero" }[i]);
	}
	after.is[0].ctime_ns++;
	after.is[1].inode = 999;
	after.is[2].size_bytes++;
	changed(&before, &after, "modified ctime;modified inode;modified size;");
}

static void test_a_write_through_mmap_shows_by_the_hash(void **state)
{
	struct home before = { 0 }, after = { 0 };

	put(&before, "m")->is_hashed = 1;
	put(&after, "m")->is_hashed = 1;
	changed(&before, &after, "");
	after.is[0].hash[1] = 1;
	changed(&before, &after, "modified m;");
	before.is[0].is_hashed = 0; /* one hash alone says nothing */
	changed(&before, &after, "");
}

static void test_deleted_and_created_between_others(void **state)
{
	struct home before = { 0 }, after = { 0 };

	put(&before, "a");
	put(&before, "b");
	put(&before, "z");
	put(&after, "b")->inode = 101;
	put(&after, "c");
	changed(&before, &after, "deleted a;created c;deleted z;");
}

static void test_a_file_that_became_something_else_is_deleted(void **state)
{
	struct home before = { 0 }, after = { 0 };

	put(&before, "dir");
	put(&before, "link");
	put(&before, "new")->kind = LISTING_LINK;
	put(&after, "dir")->kind = LISTING_FOLDER;
	put(&after, "link")->kind = LISTING_LINK;
	put(&after, "new");
	changed(&before, &after, "deleted dir;deleted link;created new;");
}

static void test_links_and_fifos_are_not_told(void **state)
{
	struct home after = { 0 };

	put(&after, "fifo")->kind = LISTING_OTHER;
	put(&after, "link")->kind = LISTING_LINK;
	changed(NULL, &after, "");
}

static void test_caches_of_libraries_are_hidden(void **state)
{
	struct home after = { 0 };

	put(&after, ".cache/fontconfig/x");
	put(&after, ".cached");
	put(&after, ".config/matplotlib/fontlist.json");
	put(&after, ".config/mine");
	put(&after, "sub/.cache/x");
	changed(NULL, &after, "created .cached;created .config/mine;created sub/.cache/x;");
}

static void test_a_prefix_sorts_before_what_it_begins(void **state)
{
	assert_true(snapshot_compare(STR("a"), STR("a/b")) < 0);
	assert_true(snapshot_compare(STR("a\xff"), STR("a/b")) > 0);
	assert_true(snapshot_compare(STR("b"), STR("ab")) > 0);
	assert_int_equal(snapshot_compare(STR("x"), STR("x")), 0);
}

static void test_a_long_list_is_cut_and_said(void **state)
{
	struct listing_entry is = { .kind = LISTING_FILE };
	struct snapshot after = { .n = CHANGES_MAX + 1 };
	struct changes changes;

	after.entries = xcalloc(after.n, sizeof(*after.entries));
	for (size_t i = 0; i < after.n; i++)
		after.entries[i] = (struct snapshot_entry){ .path = str_from(xasprintf("%06zu", i)),
			.is = &is };
	changes_find(NULL, &after, &changes);
	assert_int_equal(changes.n, CHANGES_MAX);
	assert_true(changes.is_truncated);
	changes_fini(&changes);
	after.n--;
	changes_find(NULL, &after, &changes);
	assert_false(changes.is_truncated);
	changes_fini(&changes);
	for (size_t i = 0; i <= after.n; i++)
		free((char *)(uintptr_t)after.entries[i].path.p);
	free(after.entries);
}

static void test_long_paths_cut_a_list_too(void **state)
{
	struct listing_entry is = { .kind = LISTING_FILE };
	struct snapshot_entry entries[100];
	struct snapshot after = { .entries = entries, .n = 100 };
	struct changes changes;
	char path[4000];

	memset(path, 'x', sizeof(path));
	for (size_t i = 0; i < after.n; i++)
		entries[i] = (struct snapshot_entry){ .path = { path, sizeof(path) }, .is = &is };
	entries[after.n - 1].path.n = 1;
	changes_find(NULL, &after, &changes);
	assert_int_equal(changes.n, CHANGES_PATH_BYTES_MAX / sizeof(path));
	assert_true(changes.is_truncated);
	changes_fini(&changes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_created_in_an_empty_home),
		cmocka_unit_test(test_what_stayed_is_not_told),
		cmocka_unit_test(test_each_sign_of_a_change_counts),
		cmocka_unit_test(test_a_write_through_mmap_shows_by_the_hash),
		cmocka_unit_test(test_deleted_and_created_between_others),
		cmocka_unit_test(test_a_file_that_became_something_else_is_deleted),
		cmocka_unit_test(test_links_and_fifos_are_not_told),
		cmocka_unit_test(test_caches_of_libraries_are_hidden),
		cmocka_unit_test(test_a_prefix_sorts_before_what_it_begins),
		cmocka_unit_test(test_a_long_list_is_cut_and_said),
		cmocka_unit_test(test_long_paths_cut_a_list_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
