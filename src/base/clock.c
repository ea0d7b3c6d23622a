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
