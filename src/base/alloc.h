#pragma once

#include <stddef.h>

/*
 * Memory that is never NULL: out of memory prints one line and aborts. No size given here may come
 * from outside without a cap; foreign bytes go into struct buf.
 */

/* Frees a local when it goes out of scope: `AUTO_FREE char *p = NULL;`. */
#define AUTO_FREE __attribute__((cleanup(alloc_cleanup)))

/* The value of pointer p, which becomes NULL: hands ownership on past AUTO_FREE. */
#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		__typeof__(p) *take_at_ = &(p);                                                    \
		__typeof__(p) take_value_ = *take_at_;                                             \
		*take_at_ = NULL;                                                                  \
		take_value_;                                                                       \
	})

/* size bytes, not cleared; size 0 gives a pointer too. The caller frees. malloc(3) */
__attribute__((malloc, returns_nonnull, alloc_size(1))) void *xmalloc(size_t size);

/* n zeroed elements of size bytes each; aborts when n * size overflows. The caller frees. */
__attribute__((malloc, returns_nonnull, alloc_size(1, 2))) void *xcalloc(size_t n, size_t size);

/* p (or NULL) resized to size bytes; p is gone. The caller frees. */
__attribute__((returns_nonnull, alloc_size(2))) void *xrealloc(void *p, size_t size);

/* A copy of the string s. The caller frees. */
__attribute__((malloc, returns_nonnull)) char *xstrdup(const char *s);

/* A formatted string; aborts on a format error too. The caller frees. asprintf(3) */
__attribute__((malloc, returns_nonnull, format(printf, 1, 2))) char *xasprintf(
	const char *format, ...);

/* For AUTO_FREE: frees the pointer that lies at `at`. */
void alloc_cleanup(void *at);
