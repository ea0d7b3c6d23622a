#include "jail/files/listed.h"

#include "base/alloc.h"
#include "base/unit.h"

#include <string.h>

/* A snapshot of one file. */
static struct snapshot one(int64_t ctime_ns, bool is_hashed)
{
	struct snapshot snapshot = { .n = 1, .size = sizeof(struct listing_entry) };
	struct listing_entry *entry = snapshot.data = xcalloc(1, sizeof(*entry));

	entry->kind = LISTING_FILE;
	entry->ctime_ns = ctime_ns;
	entry->is_hashed = is_hashed;
	snapshot.entries = xcalloc(1, sizeof(*snapshot.entries));
	snapshot.entries[0] = (struct snapshot_entry){ .path = STR("f"), .is = entry };
	return snapshot;
}

static void keep(struct listed *listed, struct snapshot snapshot)
{
	listed_keep(listed, listed_mark(listed), &snapshot);
	assert_null(snapshot.data);
}

/* True if something is known; a snapshot without a file is the empty home. */
static bool take(struct listed *listed, int64_t now_ns, size_t n)
{
	struct snapshot snapshot = SNAPSHOT_INIT;
	bool is_known = listed_take(listed, now_ns, &snapshot);

	assert_int_equal(snapshot.n, is_known ? n : 0);
	snapshot_fini(&snapshot);
	return is_known;
}

static void test_a_new_home_is_known_to_be_empty_once(void **state)
{
	struct listed listed;

	listed_init(&listed);
	assert_true(take(&listed, 0, 0));
	assert_false(take(&listed, 0, 0));
	listed_fini(&listed);
}

static void test_a_listing_is_handed_over_once(void **state)
{
	struct listed listed;

	listed_init(&listed);
	keep(&listed, one(5, true));
	assert_true(take(&listed, 6, 1));
	assert_false(take(&listed, 6, 1));
	keep(&listed, one(5, true));
	keep(&listed, (struct snapshot)SNAPSHOT_INIT);
	assert_true(take(&listed, 6, 0));
	keep(&listed, one(5, true));
	listed_fini(&listed);
}

static void test_a_change_of_the_same_tick_could_not_be_told(void **state)
{
	struct listed listed;

	listed_init(&listed);
	keep(&listed, one(5, true));
	assert_false(take(&listed, 5, 1));
	assert_false(take(&listed, 9, 1)); /* and it is gone */
	listed_fini(&listed);
}

/* Whenever a change of ours lies: before, around, within or behind the listing. */
static void test_changes_of_ours(void **state)
{
	struct snapshot snapshot;
	struct listed listed;
	uint64_t mark;

	listed_init(&listed);
	listed_change_begin(&listed);
	assert_false(take(&listed, 9, 0));
	listed_change_end(&listed);
	assert_false(take(&listed, 9, 0));

	keep(&listed, one(5, true));
	listed_change_begin(&listed);
	listed_change_end(&listed);
	assert_false(take(&listed, 9, 1));

	mark = listed_mark(&listed);
	assert_true(listed_is_at(&listed, mark));
	listed_change_begin(&listed);
	listed_change_end(&listed);
	assert_false(listed_is_at(&listed, mark));
	snapshot = one(5, true);
	listed_keep(&listed, mark, &snapshot);
	assert_false(take(&listed, 9, 1));

	mark = listed_mark(&listed);
	listed_change_begin(&listed);
	snapshot = one(5, true);
	listed_keep(&listed, mark, &snapshot);
	assert_false(take(&listed, 9, 1));

	/* begun before the listing, and still under way when it ends */
	mark = listed_mark(&listed);
	assert_true(mark == LISTED_NEVER);
	assert_false(listed_is_at(&listed, mark));
	snapshot = one(5, true);
	listed_keep(&listed, mark, &snapshot);
	assert_false(take(&listed, 9, 1));
	listed_change_begin(&listed);
	listed_change_end(&listed);
	assert_true(listed_mark(&listed) == LISTED_NEVER);
	listed_change_end(&listed);

	keep(&listed, one(5, true));
	assert_true(take(&listed, 9, 1));
	listed_fini(&listed);
}

static void test_what_cannot_stand_for_the_home(void **state)
{
	struct snapshot snapshot;
	struct listed listed;

	listed_init(&listed);
	keep(&listed, one(5, false));
	assert_false(take(&listed, 9, 1));
	snapshot = one(5, true);
	snapshot.is_truncated = true;
	keep(&listed, snapshot);
	assert_false(take(&listed, 9, 1));
	snapshot = one(5, true);
	snapshot.size = LISTED_SIZE_MAX;
	keep(&listed, snapshot);
	assert_false(take(&listed, 9, 1));
	listed_fini(&listed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_new_home_is_known_to_be_empty_once),
		cmocka_unit_test(test_a_listing_is_handed_over_once),
		cmocka_unit_test(test_a_change_of_the_same_tick_could_not_be_told),
		cmocka_unit_test(test_changes_of_ours),
		cmocka_unit_test(test_what_cannot_stand_for_the_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
