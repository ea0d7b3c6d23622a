#include "turns/slots.h"

#include "base/unit.h"

#include <stdbool.h>
#include <string.h>

#define N 6

static unsigned count(const struct slot *slots, uint64_t owner)
{
	unsigned n = 0;

	for (size_t i = 0; i < N; i++)
		n += slots[i].hash != 0 && slots[i].owner == owner;
	return n;
}

static bool has(const struct slot *slots, uint64_t hash)
{
	for (size_t i = 0; i < N; i++)
		if (slots[i].hash == hash)
			return true;
	return false;
}

static void test_a_key_keeps_its_place(void **state)
{
	struct slot slots[N] = { 0 };
	size_t first = slots_take(slots, N, 7, 1);

	assert_true(slots_take(slots, N, 8, 1) != first);
	assert_int_equal(slots_take(slots, N, 7, 1), first);
	assert_int_equal(count(slots, 1), 2);
	assert_int_equal(slots_give(slots, N, 7), first);
	assert_int_equal(slots_give(slots, N, 7), N);
	assert_false(has(slots, 7));
}

static void test_the_oldest_of_one_tenant_is_forgotten(void **state)
{
	struct slot slots[N] = { 0 };

	for (uint64_t hash = 1; hash <= N; hash++)
		(void)slots_take(slots, N, hash, 1);
	(void)slots_take(slots, N, 1, 1); /* it is the youngest now */
	(void)slots_take(slots, N, 100, 1);
	assert_false(has(slots, 2));
	assert_true(has(slots, 1) && has(slots, 3) && has(slots, 100));
}

static void test_who_takes_without_end_has_only_its_own_forgotten(void **state)
{
	struct slot slots[N] = { 0 };

	(void)slots_take(slots, N, 1000, 1);
	(void)slots_take(slots, N, 2000, 2);
	for (uint64_t hash = 1; hash <= 100; hash++)
		(void)slots_take(slots, N, hash, 3);
	assert_true(has(slots, 1000) && has(slots, 2000));
	assert_int_equal(count(slots, 3), N - 2);
}

static void test_others_get_their_part_of_what_one_had_alone(void **state)
{
	struct slot slots[N] = { 0 };

	for (uint64_t hash = 1; hash <= N; hash++)
		(void)slots_take(slots, N, hash, 1);
	for (uint64_t hash = 11; hash <= 30; hash++)
		(void)slots_take(slots, N, hash, 2);
	assert_int_equal(count(slots, 1), N / 2);
	assert_int_equal(count(slots, 2), N / 2);
	assert_true(has(slots, N) && has(slots, 30));
}

static void test_more_tenants_than_places(void **state)
{
	struct slot slots[N] = { 0 };

	for (uint64_t owner = 1; owner <= 3 * N; owner++) {
		(void)slots_take(slots, N, 100 + owner, owner);
		assert_true(has(slots, 100 + owner));
	}
}

static void test_junk(void **state)
{
	struct slot slots[N];

	memset(slots, 0xff, sizeof(slots));
	assert_true(slots_take(slots, N, 1, 1) < N);
	assert_true(slots_take(slots, N, 2, 1) < N);
	assert_true(has(slots, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_keeps_its_place),
		cmocka_unit_test(test_the_oldest_of_one_tenant_is_forgotten),
		cmocka_unit_test(test_who_takes_without_end_has_only_its_own_forgotten),
		cmocka_unit_test(test_others_get_their_part_of_what_one_had_alone),
		cmocka_unit_test(test_more_tenants_than_places),
		cmocka_unit_test(test_junk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
