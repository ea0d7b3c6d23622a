#pragma once

#include <stdint.h>
#include <time.h>

/* Microseconds: of a duration, or since boot. */
typedef uint64_t usec_t;

#define USEC_PER_MS ((usec_t)1000)
#define USEC_PER_S  ((usec_t)1000 * 1000)
#define NSEC_PER_S  ((int64_t)1000 * 1000 * 1000)

/* Microseconds of CLOCK_MONOTONIC: for measuring, never for dates. clock_gettime(2) */
usec_t clock_now_us(void);

/* The time in nanoseconds. A script may set any time on a file: one that does not fit (the year
 * 2262 is the last) becomes the nearest that does. */
int64_t clock_to_ns(const struct timespec *t);

/* And back. */
struct timespec clock_from_ns(int64_t ns);

/* Nanoseconds of CLOCK_REALTIME since 1970: for dates, never for measuring. */
int64_t clock_real_ns(void);
