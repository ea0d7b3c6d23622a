#pragma once

/*
 * Assertions that are always on: for mistakes of the programmer only. Input is refused, never
 * asserted. A failed one prints one line to stderr and aborts. Use this header, not <assert.h>.
 */

#undef assert
#define assert(condition)                                                                          \
	((condition) ? (void)0 : assert_fail(#condition, __FILE__, __LINE__, __func__))

/* Marks a place that cannot be reached, such as the end of a switch over every enum value. */
#define unreachable_() assert_fail("unreachable", __FILE__, __LINE__, __func__)

#ifndef static_assert
#define static_assert _Static_assert
#endif

/* Prints where and what, then aborts. Allocates nothing. Called by the macros above. */
_Noreturn void assert_fail(const char *what, const char *file, int line, const char *function);
