#pragma once

#include <stdint.h>

/* Microseconds: of a duration, or since boot. */
typedef uint64_t usec_t;

#define USEC_PER_MS ((usec_t)1000)
#define USEC_PER_S  ((usec_t)1000 * 1000)

/* Microseconds of CLOCK_MONOTONIC: for measuring, never for dates. clock_gettime(2) */
usec_t clock_now_us(void);
