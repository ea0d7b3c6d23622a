#include "turns/queue.h"

#include "base/unit.h"
#include "turns/attention.h"

#include <errno.h>
#include <string.h>

/* Places that each tenant holds in these tests. */
static unsigned held_a, held_b;

static unsigned share(const struct queue *queue, const char *tenant)
{
	return strcmp(tenant, "a") == 0 ? held_a : strcmp(tenant, "b") == 0 ? held_b : 0;
}

static struct attention attentions[8];

static int setup(void **state)
{
	held_a = held_b = 0;
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(attention_init(&attentions[i], -1), 0);
	return 0;
}

static int teardown(void **state)
{
	for (size_t i = 0; i < 8; i++)
		attention_fini(&attentions[i]);
	return 0;
}

static void add(struct queue *queue, struct queue_waiter *waiter, const char *tenant, int expected)
{
	static unsigned n;

	waiter->tenant = tenant;
	waiter->attention = &attentions[n++ % 8];
	assert_int_equal(queue_add(queue, waiter), expected);
}

static void test_alone_who_came_first(void **state)
{
	struct queue queue = { .max = 4, .share = share };
	struct queue_waiter w[3] = { 0 };

	for (size_t i = 0; i < 3; i++)
		add(&queue, &w[i], "a", 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(queue_position(&queue, &w[i]), i + 1);
	queue_remove(&queue, &w[0]);
	queue_remove(&queue, &w[0]);
	assert_int_equal(queue.n, 2);
	assert_int_equal(queue_position(&queue, &w[1]), 1);
}

static void test_one_that_asks_once_is_not_behind_all_of_another(void **state)
{
	struct queue queue = { .max = 8, .share = share };
	struct queue_waiter a[3] = { 0 }, b = { 0 };

	for (size_t i = 0; i < 3; i++)
		add(&queue, &a[i], "a", 0);
	add(&queue, &b, "b", 0);
	assert_int_equal(queue_position(&queue, &a[0]), 1);
	assert_int_equal(queue_position(&queue, &b), 2);
	assert_int_equal(queue_position(&queue, &a[1]), 3);
	held_a = 1;
	assert_int_equal(queue_position(&queue, &b), 1);
	held_b = 2;
	assert_int_equal(queue_position(&queue, &b), 3);
}

/* One place only: between two of its places a tenant holds none. */
static void test_turns_alternate_over_time(void **state)
{
	struct queue queue = { .max = 8, .share = share };
	struct queue_waiter a[3] = { 0 }, b = { 0 };

	for (size_t i = 0; i < 3; i++)
		add(&queue, &a[i], "a", 0);
	add(&queue, &b, "b", 0);
	queue_remove(&queue, &a[0]);
	queue_serve(&queue, "a");
	assert_int_equal(queue_position(&queue, &b), 1);
	queue_serve(&queue, "b");
	assert_int_equal(queue_position(&queue, &a[1]), 1);
}

static void test_many_tenants_are_remembered_in_part(void **state)
{
	struct queue queue = { .max = 8, .share = share };
	char name[8] = "t00";

	for (unsigned i = 0; i < 3 * QUEUE_SERVED_MAX; i++) {
		name[1] = (char)('0' + i / 10 % 10);
		name[2] = (char)('0' + i % 10);
		queue_serve(&queue, name);
	}
	assert_int_equal(queue.next_number, 3 * QUEUE_SERVED_MAX);
}

static void test_a_full_queue_lets_a_smaller_share_in(void **state)
{
	struct queue queue = { .max = 2, .share = share };
	struct queue_waiter a[3] = { 0 }, b[2] = { 0 };

	add(&queue, &a[0], "a", 0);
	add(&queue, &a[1], "a", 0);
	add(&queue, &a[2], "a", -EAGAIN);
	assert_false(a[2].is_evicted);
	add(&queue, &b[0], "b", 0);
	assert_true(a[1].is_evicted);
	assert_int_equal(attention_take(a[1].attention), ATTENTION_QUEUE);
	assert_int_equal(queue.n, 2);
	add(&queue, &b[1], "b", -EAGAIN);
	queue.max = 0;
	add(&queue, &b[1], "c", -EAGAIN);
}

static void test_all_are_woken(void **state)
{
	struct queue queue = { .max = 2, .share = share };
	struct queue_waiter w[2] = { 0 };

	add(&queue, &w[0], "a", 0);
	add(&queue, &w[1], "b", 0);
	queue_wake(&queue);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(attention_take(w[i].attention), ATTENTION_QUEUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_alone_who_came_first, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_one_that_asks_once_is_not_behind_all_of_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_turns_alternate_over_time, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_many_tenants_are_remembered_in_part, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_full_queue_lets_a_smaller_share_in, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_are_woken, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
