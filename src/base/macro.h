#pragma once

#include <stddef.h>

/* The object of type `type` whose member `member` is at `ptr`. Checks the type of ptr. */
#define container_of(ptr, type, member)                                                            \
	({                                                                                         \
		__typeof__(((type *)0)->member) *container_of_ptr_ = (ptr);                        \
		(type *)(void *)((char *)container_of_ptr_ - offsetof(type, member));              \
	})

/* Number of elements of an array; refuses a pointer at compile time. */
#define ARRAY_SIZE(a)                                                                              \
	(sizeof(a) / sizeof((a)[0]) +                                                              \
		0 * sizeof(char[1 - 2 * __builtin_types_compatible_p(                              \
						__typeof__(a), __typeof__(&(a)[0]))]))

/* The smaller and the larger of two values of one type; each argument is evaluated once. */
#define MIN(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) min_a_ = (a);                                                        \
		__typeof__(b) min_b_ = (b);                                                        \
		min_a_ < min_b_ ? min_a_ : min_b_;                                                 \
	})
#define MAX(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) max_a_ = (a);                                                        \
		__typeof__(b) max_b_ = (b);                                                        \
		max_a_ > max_b_ ? max_a_ : max_b_;                                                 \
	})
