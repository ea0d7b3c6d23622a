#pragma once

#include "base/str.h"

#include <stddef.h>

/*
 * Bytes that grow up to a maximum given at birth. Holds anything; a NUL that is not counted follows
 * the last byte. After -ENOBUFS the buffer is as it was before the call.
 */

struct buf {
	char *data; /* NULL until the first byte; owned */
	size_t len;
	size_t cap;
	size_t max;
};

/* `AUTO_BUF struct buf b = BUF_INIT(MAX);` frees b at the end of its scope. */
#define AUTO_BUF __attribute__((cleanup(buf_fini)))
#define BUF_INIT(max_bytes)                                                                        \
	{                                                                                          \
		.data = NULL, .len = 0, .cap = 0, .max = (max_bytes)                               \
	}

/* Makes an empty buffer of at most max bytes; allocates nothing yet. End it with buf_fini. */
void buf_init(struct buf *b, size_t max);

/* Frees the bytes; b is then empty and may be used or finished again. */
void buf_fini(struct buf *b);

/* Forgets the bytes, keeps the memory. */
void buf_clear(struct buf *b);

/* Appends n bytes, a C string, a slice, one byte, or formatted text. Returns 0, or -ENOBUFS above
 * max. The bytes must not lie in b itself. */
int buf_add(struct buf *b, const void *p, size_t n);
int buf_add_str(struct buf *b, const char *s);
int buf_add_slice(struct buf *b, struct str s);
int buf_add_char(struct buf *b, char c);
__attribute__((format(printf, 2, 3))) int buf_addf(struct buf *b, const char *format, ...);

/* The content as a C string ("" when empty), or as a slice; both die with the next buf_ call. */
const char *buf_get_cstr(const struct buf *b);
struct str buf_get_slice(const struct buf *b);

/* Appends the whole file path (relative to dirfd, AT_FDCWD allowed). Returns 0, -ENOBUFS above max,
 * or -errno; then a part of it may have been added. */
int buf_add_file(struct buf *b, int dirfd, const char *path);
