#include "wire/stage.h"

#include "base/fault.h"
#include "base/macro.h"

#include "base/unit.h"

#include <ctype.h>

static const char *const ids[] = {
	"NONE",
#define STAGE(id, name) #id,
#include "wire/stage.def"
#undef STAGE
};

static void test_names_stand_at_their_numbers(void **state)
{
	assert_int_equal(ARRAY_SIZE(ids), STAGE_MAX);
	assert_string_equal(stage_name(STAGE_NONE), "none");
	assert_string_equal(stage_name(STAGE_OPTIONS), "read the start options");
	assert_string_equal(stage_name(STAGE_INIT_HOME), "attach the home");
	assert_string_equal(stage_name(STAGE_SCRIPT_EXEC), "execute the interpreter");
	assert_int_equal(STAGE_SCRIPT_EXEC, STAGE_MAX - 1);
}

static void test_numbers_outside_the_table_are_unknown(void **state)
{
	assert_string_equal(stage_name(STAGE_MAX), "unknown");
	assert_string_equal(stage_name(STAGE_MAX + 1), "unknown");
	assert_string_equal(stage_name(0x80000000u), "unknown");
	assert_string_equal(stage_name(UINT32_MAX), "unknown");
}

static void test_every_stage_has_a_name_of_its_own(void **state)
{
	for (unsigned i = 0; i < STAGE_MAX; i++) {
		const char *name = stage_name(i);

		assert_true(islower((unsigned char)name[0]));
		assert_true(strlen(name) <= 60);
		assert_null(strchr(name, '\n'));
		for (unsigned j = 0; j < i; j++) {
			assert_string_not_equal(name, stage_name(j));
			assert_string_not_equal(ids[i], ids[j]);
		}
	}
}

/* The groups follow one another, so that a number tells how far a start had come. */
static void test_stages_are_in_the_order_of_a_start(void **state)
{
	static const char *const groups[] = { "START_", "ZYGOTE_", "WARM_", "SESSION_", "CELL_",
		"INIT_", "RUN_", "LIVE_", "SCRIPT_" };
	size_t at = 0;

	for (unsigned i = STAGE_START_SETUP; i < STAGE_MAX; i++) {
		while (at < ARRAY_SIZE(groups) &&
			strncmp(ids[i], groups[at], strlen(groups[at])) != 0)
			at++;
		assert_true(at < ARRAY_SIZE(groups));
	}
	assert_int_equal(at, ARRAY_SIZE(groups) - 1);
	assert_true(STAGE_OUTER_EXEC < STAGE_START_SETUP);
	assert_true(STAGE_SCRIPT_NO_NEW_PRIVS < STAGE_SCRIPT_LANDLOCK);
	assert_true(STAGE_SCRIPT_IDENTITY < STAGE_SCRIPT_CAPABILITIES);
	assert_true(STAGE_SCRIPT_DESCRIPTORS < STAGE_SCRIPT_SECCOMP);
}

/* A longer one would leave it empty, and programs without the name. */
static void test_every_name_fits_into_a_fault(void **state)
{
	for (unsigned i = 0; i < STAGE_MAX; i++)
		assert_true(strlen(stage_name(i)) < sizeof(((struct fault *)NULL)->stage));
}

#ifdef CLOCHE_FAULT_INJECTION
static int calls;

static int step(void)
{
	calls++;
	return 42;
}

static void test_the_chosen_stage_fails_without_being_done(void **state)
{
	stage_to_fail = STAGE_INIT_HOME;
	assert_int_equal(STAGE_TRY(STAGE_INIT_HOME, step()), -5);
	assert_int_equal(calls, 0);
	assert_int_equal(STAGE_TRY(STAGE_INIT_TMPFS, step()), 42);
	assert_int_equal(calls, 1);
	stage_to_fail = STAGE_NONE;
	assert_int_equal(STAGE_TRY(STAGE_INIT_HOME, step()), 42);
}
#else
static void test_no_stage_fails_in_a_product_build(void **state)
{
	for (unsigned i = 0; i < STAGE_MAX; i++) {
		assert_false(stage_fails((enum stage)i));
		assert_int_equal(STAGE_TRY((enum stage)i, 42), 42);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_stand_at_their_numbers),
		cmocka_unit_test(test_numbers_outside_the_table_are_unknown),
		cmocka_unit_test(test_every_stage_has_a_name_of_its_own),
		cmocka_unit_test(test_stages_are_in_the_order_of_a_start),
		cmocka_unit_test(test_every_name_fits_into_a_fault),
#ifdef CLOCHE_FAULT_INJECTION
		cmocka_unit_test(test_the_chosen_stage_fails_without_being_done),
#else
		cmocka_unit_test(test_no_stage_fails_in_a_product_build),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
