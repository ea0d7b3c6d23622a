/*
 * Theory of operation: CLOCK_MONOTONIC never jumps when somebody sets the date, and is read through
 * the vDSO without a system call.
 */
#include "base/clock.h"

#include "base/assert.h"

#include <time.h>

usec_t clock_now_us(void)
{
	struct timespec now;
	int r = clock_gettime(CLOCK_MONOTONIC, &now);

	assert(r == 0);
	return (usec_t)now.tv_sec * USEC_PER_S + (usec_t)now.tv_nsec / 1000;
}

int64_t clock_to_ns(const struct timespec *t)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)t->tv_sec, NSEC_PER_S, &ns) ||
		__builtin_add_overflow(ns, (int64_t)t->tv_nsec, &ns))
		return t->tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

struct timespec clock_from_ns(int64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / NSEC_PER_S),
		.tv_nsec = (long)(ns % NSEC_PER_S) };

	/* before 1970: the rest is below zero, and the kernel wants it from zero on */
	if (t.tv_nsec < 0) {
		t.tv_sec--;
		t.tv_nsec += NSEC_PER_S;
	}
	return t;
}

int64_t clock_real_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return clock_to_ns(&now);
}
