#include "call/archive_share.h"

#include "base/unit.h"

#include <errno.h>

static void test_a_tenant_takes_half_and_leaves_the_other(void **state)
{
	struct archive_share *a = archive_share_enter("a"), *also_a = archive_share_enter("a");
	struct archive_share *b = archive_share_enter("b"), *c = archive_share_enter("c");

	assert_ptr_equal(a, also_a);
	assert_int_equal(archive_share_take(a, ARCHIVE_TENANT_MAX - 1), 0);
	assert_int_equal(archive_share_take(also_a, 2), -EDQUOT);
	assert_int_equal(archive_share_take(also_a, 1), 0);
	assert_int_equal(archive_share_take(b, ARCHIVE_TENANT_MAX - 10), 0);
	assert_int_equal(archive_share_take(c, 11), -EBUSY);
	assert_int_equal(archive_share_take(c, 10), 0);
	archive_share_leave(also_a, 1);
	assert_int_equal(archive_share_take(c, 1), 0);
	archive_share_leave(a, ARCHIVE_TENANT_MAX - 1);
	archive_share_leave(b, ARCHIVE_TENANT_MAX - 10);
	archive_share_leave(c, 11);
	a = archive_share_enter("a");
	assert_int_equal(archive_share_take(a, ARCHIVE_TENANT_MAX), 0);
	archive_share_leave(a, ARCHIVE_TENANT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_tenant_takes_half_and_leaves_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
