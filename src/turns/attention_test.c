#include "turns/attention.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/unit.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_readable(const struct attention *attention)
{
	struct pollfd set[] = { { .fd = attention->event_fd, .events = POLLIN },
		{ .fd = attention->client_fd, .events = POLLRDHUP } };

	return poll(set, 2, 0) > 0;
}

static void test_reasons_add_up_and_stay(void **state)
{
	struct attention attention;

	assert_int_equal(attention_init(&attention, -1), 0);
	assert_false(is_readable(&attention));
	attention_raise(&attention, ATTENTION_QUEUE);
	attention_raise(&attention, ATTENTION_CANCEL);
	assert_true(is_readable(&attention));
	assert_int_equal(attention_take(&attention), ATTENTION_QUEUE | ATTENTION_CANCEL);
	assert_false(is_readable(&attention));
	assert_int_equal(attention_take(&attention), ATTENTION_CANCEL);
	attention_fini(&attention);
}

static void gone(int how)
{
	struct attention attention;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(attention_init(&attention, pair[0]), 0);
	assert_int_equal(write(pair[1], "x", 1), 1); /* talking is not leaving */
	assert_false(is_readable(&attention));
	assert_int_equal(shutdown(pair[1], how), 0);
	assert_true(is_readable(&attention));
	assert_int_equal(attention_take(&attention), ATTENTION_GONE);
	assert_false(is_readable(&attention)); /* told once: no spinning */
	(void)fd_close(pair[0]);
	(void)fd_close(pair[1]);
	attention_fini(&attention);
}

static void test_a_client_that_leaves(void **state)
{
	gone(SHUT_RDWR);
	gone(SHUT_WR);
}

static void *raiser(void *attention)
{
	attention_raise(attention, ATTENTION_DRAIN);
	return NULL;
}

static void test_waiting_ends_by_time_or_reason(void **state)
{
	struct attention attention;
	usec_t before = clock_now_us();
	pthread_t thread;

	assert_int_equal(attention_init(&attention, -1), 0);
	assert_int_equal(attention_wait(&attention, 0), 0);
	assert_int_equal(attention_wait(&attention, 20000), 0);
	assert_true(clock_now_us() - before >= 20000);
	assert_int_equal(pthread_create(&thread, NULL, raiser, &attention), 0);
	assert_int_equal(attention_wait(&attention, 60 * USEC_PER_S), ATTENTION_DRAIN);
	assert_int_equal(pthread_join(thread, NULL), 0);
	attention_fini(&attention);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons_add_up_and_stay),
		cmocka_unit_test(test_a_client_that_leaves),
		cmocka_unit_test(test_waiting_ends_by_time_or_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
