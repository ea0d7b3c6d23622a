#include "jail/files/links.h"

#include "base/unit.h"

#include <errno.h>

#define MANY 20000

static void test_first_names_are_found_by_inode(void **state)
{
	struct links links = LINKS_INIT;
	size_t first = 99;

	assert_int_equal(links_find(&links, 0, &first), -ENOENT);
	links_add(&links, 0, 0);
	links_add(&links, UINT64_MAX, 7);
	assert_int_equal(links_find(&links, 0, &first), 0);
	assert_int_equal(first, 0);
	assert_int_equal(links_find(&links, UINT64_MAX, &first), 0);
	assert_int_equal(first, 7);
	assert_int_equal(links_find(&links, 1, &first), -ENOENT);
	links_fini(&links);
	links_fini(&links);
}

/* Numbers one after the other, and those whose low bits are all the same. */
static void test_many(void **state)
{
	struct links links = LINKS_INIT;
	size_t first;

	for (size_t i = 0; i < MANY; i++) {
		links_add(&links, 1 + i, i);
		links_add(&links, (1 + i) << 32, MANY + i);
	}
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(links_find(&links, 1 + i, &first), 0);
		assert_int_equal(first, i);
		assert_int_equal(links_find(&links, (1 + i) << 32, &first), 0);
		assert_int_equal(first, MANY + i);
	}
	assert_int_equal(links_find(&links, MANY + 1, &first), -ENOENT);
	links_fini(&links);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_names_are_found_by_inode),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
