/*
 * Theory of operation: memory doubles from BUF_FIRST up to max + 1 (one byte for the NUL that is
 * always behind the last byte). Invariant: data is NULL and cap 0, or len < cap <= max + 1 and
 * data[len] is NUL. Sizes are compared by subtraction, so that no sum can overflow.
 */
#include "base/buf.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/fd.h"
#include "base/macro.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUF_FIRST 64 /* bytes: most of what is built is a short line */

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf)BUF_INIT(max);
}

void buf_fini(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT(b->max);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

/* Makes room for n more bytes and the NUL. Returns 0 or -ENOBUFS. */
static int buf_grow(struct buf *b, size_t n)
{
	size_t need, cap;

	assert(b->max < SIZE_MAX / 2);
	if (n > b->max - b->len)
		return -ENOBUFS;
	need = b->len + n + 1;
	if (need <= b->cap)
		return 0;
	cap = b->cap > 0 ? b->cap * 2 : BUF_FIRST;
	cap = MAX(cap, need);
	cap = MIN(cap, b->max + 1);
	b->data = xrealloc(b->data, cap);
	b->cap = cap;
	return 0;
}

int buf_add(struct buf *b, const void *p, size_t n)
{
	int r = buf_grow(b, n);

	if (r < 0)
		return r;
	if (n > 0)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int buf_add_str(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int buf_add_slice(struct buf *b, struct str s)
{
	return buf_add(b, s.p, s.n);
}

int buf_add_char(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

int buf_addf(struct buf *b, const char *format, ...)
{
	va_list ap;
	int n, r;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	assert(n >= 0);
	r = buf_grow(b, (size_t)n);
	if (r < 0)
		return r;
	va_start(ap, format);
	(void)vsnprintf(b->data + b->len, (size_t)n + 1, format, ap);
	va_end(ap);
	b->len += (size_t)n;
	return 0;
}

const char *buf_get_cstr(const struct buf *b)
{
	return b->data ? b->data : "";
}

struct str buf_get_slice(const struct buf *b)
{
	return (struct str){ .p = buf_get_cstr(b), .n = b->len };
}

int buf_add_file(struct buf *b, int dirfd, const char *path)
{
	AUTO_CLOSE int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	char chunk[4096];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = fd_read_full(fd, chunk, sizeof(chunk))) > 0) {
		int r = buf_add(b, chunk, (size_t)n);

		if (r < 0)
			return r;
	}
	return (int)n;
}
