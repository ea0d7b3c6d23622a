#include "turns/runs.h"

#include "base/str.h"
#include "base/unit.h"
#include "turns/attention.h"

#include <errno.h>
#include <string.h>

static void test_ids(void **state)
{
	static const char *const bad[] = { "", " ", "a b", "a.b", "../x", "\xc3\xa9", "a\n" };
	char id[66];

	assert_true(runs_id_is_valid("a"));
	assert_true(runs_id_is_valid("A-Z_09"));
	memset(id, 'x', sizeof(id));
	id[64] = '\0';
	assert_true(runs_id_is_valid(id));
	id[64] = 'x';
	id[65] = '\0';
	assert_false(runs_id_is_valid(id));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(runs_id_is_valid(bad[i]));
}

static void test_cancel_finds_the_tenants_own(void **state)
{
	struct runs *runs = runs_new();
	struct attention attention;

	assert_int_equal(attention_init(&attention, -1), 0);
	assert_int_equal(runs_cancel(runs, "t", "r"), -ENOENT);
	assert_int_equal(runs_begin(runs, "t", "r", &attention), 0);
	assert_int_equal(runs_begin(runs, "t", "r", &attention), -EEXIST);
	assert_int_equal(runs_cancel(runs, "u", "r"), -ENOENT);
	assert_int_equal(attention_take(&attention), 0);
	assert_int_equal(runs_cancel(runs, "t", "r"), 0);
	assert_int_equal(attention_take(&attention), ATTENTION_CANCEL);
	runs_end(runs, "t", "r");
	assert_int_equal(runs_cancel(runs, "t", "r"), -EALREADY);
	assert_int_equal(runs_cancel(runs, NULL, "r"), -EALREADY);
	assert_int_equal(runs_cancel(runs, "u", "r"), -ENOENT);
	assert_int_equal(runs_cancel(runs, "tr", ""), -ENOENT);
	assert_int_equal(runs_begin(runs, "t", "r", &attention), -EEXIST);
	assert_int_equal(runs_begin(runs, "u", "r", &attention), 0);
	assert_int_equal(runs_cancel(runs, NULL, "r"), 0);
	runs_free(runs);
	attention_fini(&attention);
}

static void test_the_oldest_is_forgotten(void **state)
{
	struct runs *runs = runs_new();
	struct attention attention = { .event_fd = -1 };
	char id[16];

	runs_end(runs, "other", "r0");
	for (unsigned i = 0; i <= RUNS_REMEMBERED; i++) {
		assert_int_equal(str_format(id, sizeof(id), "r%u", i), 0);
		assert_int_equal(runs_begin(runs, "t", id, &attention), 0);
		runs_end(runs, "t", id);
	}
	assert_int_equal(runs_cancel(runs, "t", "r0"), -ENOENT);
	assert_int_equal(runs_cancel(runs, "t", "r1"), -EALREADY);
	assert_int_equal(runs_cancel(runs, "t", id), -EALREADY);
	/* one tenant's many do not make another's forgotten */
	assert_int_equal(runs_cancel(runs, "other", "r0"), -EALREADY);
	assert_int_equal(runs_cancel(runs, NULL, "r0"), -EALREADY);
	runs_free(runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_cancel_finds_the_tenants_own),
		cmocka_unit_test(test_the_oldest_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
