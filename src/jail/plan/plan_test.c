#include "jail/plan/plan.h"

#include "base/unit.h"

#include <errno.h>

static struct jail_plan good(void)
{
	struct jail_plan plan = {
		.magic = PLAN_MAGIC, .version = PLAN_VERSION, .landlock_abi = 7, .filter_count = 300
	};

#define LIMIT(name, unit, min, max) plan.limits.name = min;
#include "wire/limits.def"
#undef LIMIT
	return plan;
}

static int check(const struct jail_plan *plan)
{
	return plan_check(plan, sizeof(*plan), PLAN_FD_PROC);
}

static void test_a_good_plan_passes(void **state)
{
	struct jail_plan plan = good();

	assert_int_equal(check(&plan), 0);
	plan.cpus = UINT64_MAX;
	assert_int_equal(check(&plan), 0);
}

static void test_the_struct_has_no_padding(void **state)
{
	assert_int_equal(sizeof(struct jail_plan), 8 + sizeof(struct wire_limits) + 8 + 16);
	assert_int_equal(sizeof(struct jail_run), 24);
	assert_int_equal(sizeof(struct init_event), 48);
}

static void test_other_sizes_are_refused(void **state)
{
	struct jail_plan plan = good();

	for (uint64_t size = 0; size < sizeof(plan) + 16; size++) {
		if (size != sizeof(plan))
			assert_int_equal(plan_check(&plan, size, PLAN_FD_PROC), -EBADMSG);
	}
	assert_int_equal(plan_check(&plan, UINT64_MAX, PLAN_FD_PROC), -EBADMSG);
}

static void test_a_plan_of_another_build_is_refused(void **state)
{
	struct jail_plan plan = good();

	plan.magic ^= 0x80;
	assert_int_equal(check(&plan), -EBADMSG);
	plan = good();
	plan.version++;
	assert_int_equal(check(&plan), -EBADMSG);
	plan = good();
	plan.version = 0;
	assert_int_equal(check(&plan), -EBADMSG);
	plan = good();
	plan.is_quiet = 2;
	assert_int_equal(check(&plan), -EBADMSG);
}

static void test_a_cell_without_landlock_is_refused(void **state)
{
	struct jail_plan plan = good();

	plan.landlock_abi = 0;
	assert_int_equal(check(&plan), -EBADMSG);
	plan.landlock_abi = UINT32_MAX;
	assert_int_equal(check(&plan), -EBADMSG);
	plan.landlock_abi = 1;
	assert_int_equal(check(&plan), 0);
}

static void test_the_filter_must_have_a_possible_size(void **state)
{
	static const uint32_t refused[] = { 0, 1, 3, 4097, 65536 + 300, UINT32_MAX };
	struct jail_plan plan = good();

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		plan.filter_count = refused[i];
		assert_int_equal(check(&plan), -EBADMSG);
	}
	plan.filter_count = 4;
	assert_int_equal(check(&plan), 0);
	plan.filter_count = 4096;
	assert_int_equal(check(&plan), 0);
}

static void test_every_limit_is_checked(void **state)
{
	struct jail_plan plan;

#define LIMIT(name, unit, min, max)                                                                \
	plan = good();                                                                             \
	plan.limits.name = (max) + 1;                                                              \
	assert_int_equal(plan_check(&plan, sizeof(plan), PLAN_FD_PROC), -EBADMSG);                 \
	assert_int_equal(plan_check(&plan, sizeof(plan), PLAN_FDS_MAX), -EBADMSG);
#include "wire/limits.def"
#undef LIMIT
}

static void test_descriptors_come_with_own_proc_or_without(void **state)
{
	struct jail_plan plan = good();

	for (uint64_t n = 0; n < 10; n++) {
		plan.limits.own_proc = 0;
		assert_int_equal(
			plan_check(&plan, sizeof(plan), n), n == PLAN_FD_PROC ? 0 : -EBADMSG);
		plan.limits.own_proc = 1;
		assert_int_equal(
			plan_check(&plan, sizeof(plan), n), n == PLAN_FDS_MAX ? 0 : -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_good_plan_passes),
		cmocka_unit_test(test_the_struct_has_no_padding),
		cmocka_unit_test(test_other_sizes_are_refused),
		cmocka_unit_test(test_a_plan_of_another_build_is_refused),
		cmocka_unit_test(test_a_cell_without_landlock_is_refused),
		cmocka_unit_test(test_the_filter_must_have_a_possible_size),
		cmocka_unit_test(test_every_limit_is_checked),
		cmocka_unit_test(test_descriptors_come_with_own_proc_or_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
