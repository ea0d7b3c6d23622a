#include "tenant/shares.h"

#include "base/unit.h"

#include <errno.h>

static const struct shares_limits small = { .tenant_work = 2,
	.tenant_all = 3,
	.work = 4,
	.all = 6,
	.tenant_body_bytes = 100,
	.tenant_answer_bytes = 100,
	.answer_bytes = 150,
	.parsing = 2 };

static struct shares shares; /* of the test under way */

static struct share *enter(const char *tenant, enum shares_kind kind)
{
	struct share *share = NULL;

	assert_int_equal(shares_enter(&shares, tenant, kind, false, &share), 0);
	return share;
}

static int enter_not(const char *tenant, enum shares_kind kind, bool is_admin)
{
	struct share *share = NULL;
	int r = shares_enter(&shares, tenant, kind, is_admin, &share);

	assert_true((r == 0) == (share != NULL));
	return r;
}

static void test_one_tenant_cannot_take_all(void **state)
{
	struct share *a;

	shares_init(&shares, &small);
	a = enter("a", SHARES_WORK);
	assert_ptr_equal(enter("a", SHARES_WORK), a);
	assert_int_equal(enter_not("a", SHARES_WORK, false), -EDQUOT);
	assert_int_equal(enter_not("a", SHARES_WORK, true), -EDQUOT);
	enter("a", SHARES_LOOK); /* to cancel what it has */
	assert_int_equal(enter_not("a", SHARES_LOOK, false), -EDQUOT);
	assert_int_equal(enter_not("a", SHARES_LOOK, true), 0);
	enter("b", SHARES_WORK);
	shares_leave(&shares, a, SHARES_LOOK);
	shares_leave(&shares, a, SHARES_LOOK);
	shares_leave(&shares, a, SHARES_WORK);
	enter("a", SHARES_WORK);
}

static void test_many_sessions_are_of_use_to_one_tenant(void **state)
{
	assert_int_equal(shares_limits_for(4).tenant_work, 32);
	assert_int_equal(shares_limits_for(64).tenant_work, 80);
	assert_int_equal(shares_limits_for(64).tenant_all, 88);
	assert_int_equal(shares_limits_for(128).tenant_work, 96);
	assert_int_equal(shares_limits_for(128).all, 120);
}

static void test_all_tenants_leave_something(void **state)
{
	shares_init(&shares, &small);
	enter("a", SHARES_WORK);
	enter("a", SHARES_WORK);
	enter("b", SHARES_WORK);
	enter("b", SHARES_WORK);
	assert_int_equal(enter_not("c", SHARES_WORK, false), -EBUSY);
	enter("c", SHARES_LOOK);
	enter("", SHARES_LOOK);
	assert_int_equal(enter_not("c", SHARES_LOOK, false), -EBUSY);
	assert_int_equal(enter_not("c", SHARES_LOOK, true), 0);
}

static void test_a_share_is_free_when_its_last_request_is_over(void **state)
{
	char tenant[8];

	shares_init(&shares, &small);
	for (unsigned i = 0; i < 3 * SHARES_TENANTS_MAX; i++) {
		struct share *share;

		assert_int_equal(str_format(tenant, sizeof(tenant), "t%u", i), 0);
		share = enter(tenant, SHARES_WORK);
		assert_string_equal(share->tenant, tenant);
		shares_leave(&shares, share, SHARES_WORK);
	}
}

static void test_bodies_of_a_tenant(void **state)
{
	struct share *a;

	shares_init(&shares, &small);
	a = enter("a", SHARES_WORK);
	assert_true(shares_take_body(&shares, a, 60));
	assert_false(shares_take_body(&shares, a, 41));
	assert_true(shares_take_body(&shares, a, 40));
	shares_give_body(&shares, a, 100);
	assert_true(shares_take_body(&shares, a, 100));
}

static void test_answers_wait_for_their_readers(void **state)
{
	struct share *a, *b, *c;
	usec_t now_us = clock_now_us();

	shares_init(&shares, &small);
	a = enter("a", SHARES_WORK);
	b = enter("b", SHARES_WORK);
	c = enter("c", SHARES_WORK);
	assert_int_equal(shares_take_answer(&shares, a, 80, now_us, false), 0);
	assert_int_equal(shares_take_answer(&shares, a, 30, now_us + 1000, false), -EDQUOT);
	assert_int_equal(shares_take_answer(&shares, b, 70, now_us, false), 0);
	assert_int_equal(shares_take_answer(&shares, c, 1, now_us, false), -EBUSY);
	/* What must not be lost is taken after the wait all the same, and given back like all. */
	assert_int_equal(shares_take_answer(&shares, a, 200, now_us + 1000, true), 0);
	assert_int_equal(shares_take_answer(&shares, a, 1, now_us, false), -EDQUOT);
	shares_give_answer(&shares, a, 200);
	shares_give_answer(&shares, a, 80);
	assert_int_equal(shares_take_answer(&shares, c, 80, now_us, false), 0);
}

static void *answer_give(void *share)
{
	shares_give_answer(&shares, share, 80);
	return NULL;
}

static void test_a_waiter_goes_on_when_bytes_are_free(void **state)
{
	struct share *a;
	pthread_t thread;

	shares_init(&shares, &small);
	a = enter("a", SHARES_WORK);
	assert_int_equal(shares_take_answer(&shares, a, 80, 0, false), 0);
	assert_int_equal(pthread_create(&thread, NULL, answer_give, a), 0);
	assert_int_equal(
		shares_take_answer(&shares, a, 90, clock_now_us() + 60 * USEC_PER_S, false), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *parse(void *share)
{
	shares_parse_begin(&shares, share);
	shares_parse_end(&shares, share);
	return NULL;
}

static void test_one_parses_for_each_tenant(void **state)
{
	struct share *a, *b;
	pthread_t thread;

	shares_init(&shares, &small);
	a = enter("a", SHARES_WORK);
	b = enter("b", SHARES_WORK);
	shares_parse_begin(&shares, a);
	assert_int_equal(pthread_create(&thread, NULL, parse, a), 0);
	shares_parse_begin(&shares, b); /* not kept from it by a's two */
	shares_parse_end(&shares, b);
	assert_true(a->is_parsing);
	shares_parse_end(&shares, a);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(shares.parsing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_tenant_cannot_take_all),
		cmocka_unit_test(test_many_sessions_are_of_use_to_one_tenant),
		cmocka_unit_test(test_all_tenants_leave_something),
		cmocka_unit_test(test_a_share_is_free_when_its_last_request_is_over),
		cmocka_unit_test(test_bodies_of_a_tenant),
		cmocka_unit_test(test_answers_wait_for_their_readers),
		cmocka_unit_test(test_a_waiter_goes_on_when_bytes_are_free),
		cmocka_unit_test(test_one_parses_for_each_tenant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
