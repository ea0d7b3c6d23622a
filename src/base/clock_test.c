#include "base/clock.h"

#include "base/unit.h"

#include <time.h>

static void test_counts_microseconds_forward(void **state)
{
	usec_t start = clock_now_us(), took_us;
	const struct timespec pause = { .tv_nsec = 5 * 1000 * 1000 };

	assert_int_equal(nanosleep(&pause, NULL), 0);
	took_us = clock_now_us() - start;
	assert_true(took_us >= 5 * USEC_PER_MS);
	assert_true(took_us < 60 * USEC_PER_S); /* off by a unit, not by a busy machine */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_microseconds_forward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
