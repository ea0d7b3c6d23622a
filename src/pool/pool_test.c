#include "pool/pool.h"

#include "base/unit.h"
#include "pool/fake_test.h"

static void test_an_empty_pool(void **state)
{
	struct pool *pool = pool_new();
	struct wire_status_is status;
	struct fault fault;

	assert_null(pool_get(pool, 0, &fault));
	assert_int_equal(fault.code, FAULT_SANDBOX_UNAVAILABLE);
	assert_int_equal(pool_generation(pool), 0);
	assert_false(pool_status(pool, &status));
	pool_free(pool);
}

static void test_a_jaild_that_could_not_start(void **state)
{
	struct pool *pool = pool_new();
	struct fault fault;
	int pair[2];

	assert_int_equal(channel_pair(pair), 0);
	fake_fail(pair[1], EPERM, STAGE_START_FILTER, 0);
	assert_int_equal(pool_attach(pool, pair[0], &fault), -EPERM);
	assert_string_equal(fault.stage, stage_name(STAGE_START_FILTER));
	assert_int_equal(pool_generation(pool), 0);
	(void)fd_close(pair[1]);
	pool_free(pool);
}

static void test_connections_come_back(void **state)
{
	struct pool *pool = pool_new();
	struct wire_status_is status;
	struct jaild *a, *b;
	struct fault fault;
	struct fake fake;

	assert_int_equal(pool_attach(pool, fake_start(&fake), &fault), 0);
	assert_int_equal(pool_generation(pool), 1);
	assert_true(pool_status(pool, &status));
	assert_int_equal(status.protections, WIRE_PROTECT_ALL);
	a = pool_get(pool, 0, &fault);
	b = pool_get(pool, 1, &fault);
	assert_non_null(a);
	assert_ptr_not_equal(a, b);
	assert_int_equal(pool_in_use(pool), 2);
	assert_int_equal(jaild_status(b, &status), 0);
	pool_put(pool, a);
	assert_ptr_equal(pool_get(pool, 0, &fault), a);
	pool_put(pool, a);
	pool_put(pool, b);
	assert_int_equal(pool_in_use(pool), 0);
	assert_int_equal(fake.n, 3);
	pool_free(pool);
	fake_stop(&fake);
}

static void test_a_broken_connection_is_dropped(void **state)
{
	struct pool *pool = pool_new();
	struct jaild *jaild;
	struct fault fault;
	struct fake fake;

	assert_int_equal(pool_attach(pool, fake_start(&fake), &fault), 0);
	jaild = pool_get(pool, 0, &fault);
	jaild->fd = fd_close(jaild->fd); /* as after a lost answer */
	pool_put(pool, jaild);
	jaild = pool_get(pool, 0, &fault);
	assert_true(jaild->fd >= 0);
	pool_put(pool, jaild);
	/* An idle one, ended by jaild. */
	assert_int_equal(shutdown(fake.fds[2], SHUT_RDWR), 0);
	jaild = pool_get(pool, 0, &fault);
	assert_non_null(jaild);
	assert_int_equal(fake.n, 4);
	pool_put(pool, jaild);
	pool_free(pool);
	fake_stop(&fake);
}

static void test_the_next_jaild_is_another(void **state)
{
	struct pool *pool = pool_new();
	struct fake first, second;
	struct jaild *old, *idle;
	struct fault fault;

	assert_int_equal(pool_attach(pool, fake_start(&first), &fault), 0);
	old = pool_get(pool, 0, &fault);
	idle = pool_get(pool, 0, &fault);
	pool_put(pool, idle);
	fake_stop(&first);
	assert_int_equal(pool_generation(pool), 0);
	assert_null(pool_get(pool, 0, &fault));
	assert_int_equal(pool_attach(pool, fake_start(&second), &fault), 0);
	assert_int_equal(pool_generation(pool), 2);
	assert_int_equal(pool_generation_of(old), 1);
	pool_put(pool, old); /* not for others */
	assert_null(pool_get(pool, 1, &fault));
	assert_int_equal(fault.code, FAULT_SANDBOX_UNAVAILABLE);
	idle = pool_get(pool, 2, &fault);
	assert_non_null(idle);
	assert_int_equal(pool_generation_of(idle), 2);
	pool_put(pool, idle);
	assert_int_equal(pool_in_use(pool), 0);
	pool_free(pool);
	fake_stop(&second);
}

static void *taker(void *argument)
{
	struct pool *pool = argument;

	for (int i = 0; i < 50; i++) {
		struct wire_status_is status;
		struct fault fault;
		struct jaild *jaild = pool_get(pool, 0, &fault);

		assert(jaild && jaild_status(jaild, &status) == 0);
		pool_put(pool, jaild);
	}
	return NULL;
}

static void test_many_threads(void **state)
{
	struct pool *pool = pool_new();
	pthread_t threads[8];
	struct fault fault;
	struct fake fake;

	assert_int_equal(pool_attach(pool, fake_start(&fake), &fault), 0);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, taker, pool), 0);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_true(fake.n <= 9);
	pool_free(pool);
	fake_stop(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_empty_pool),
		cmocka_unit_test(test_a_jaild_that_could_not_start),
		cmocka_unit_test(test_connections_come_back),
		cmocka_unit_test(test_a_broken_connection_is_dropped),
		cmocka_unit_test(test_the_next_jaild_is_another),
		cmocka_unit_test(test_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
