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

static void test_nanoseconds_that_do_not_fit_are_the_nearest_that_do(void **state)
{
	static const struct {
		struct timespec t;
		int64_t ns;
	} cases[] = { { { 0, 0 }, 0 }, { { 1, 5 }, 1000000005 }, { { -1, 5 }, -999999995 },
		{ { INT64_MAX / NSEC_PER_S, INT64_MAX % NSEC_PER_S }, INT64_MAX },
		{ { INT64_MAX / NSEC_PER_S, INT64_MAX % NSEC_PER_S + 1 }, INT64_MAX },
		{ { INT64_MAX, 0 }, INT64_MAX }, { { INT64_MIN, 0 }, INT64_MIN } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(clock_to_ns(&cases[i].t) == cases[i].ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_microseconds_forward),
		cmocka_unit_test(test_nanoseconds_that_do_not_fit_are_the_nearest_that_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
