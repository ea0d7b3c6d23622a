/*
 * Theory of operation: a program that runs out of memory here cannot do its work, and code that
 * only runs then is never tested. So it aborts with one line, written without allocating.
 */
#include "base/alloc.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *xmalloc(size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	assert(p && "out of memory");
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p;

	/* One element at least, so that NULL always means failure. */
	if (n == 0 || size == 0)
		n = size = 1;
	p = calloc(n, size);
	assert(p && "out of memory");
	return p;
}

void *xrealloc(void *p, size_t size)
{
	void *q = realloc(p, size > 0 ? size : 1);

	assert(q && "out of memory");
	return q;
}

char *xstrdup(const char *s)
{
	char *copy = strdup(s);

	assert(copy && "out of memory");
	return copy;
}

char *xasprintf(const char *format, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	assert(n >= 0 && text && "out of memory");
	return text;
}

void alloc_cleanup(void *at)
{
	void *p;

	/* memcpy, since `at` is the address of a pointer of any type. */
	memcpy(&p, at, sizeof(p));
	free(p);
}
