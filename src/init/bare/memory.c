#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* string(3), for short things: byte by byte. */

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	const unsigned char *source = from;
	unsigned char *target = to;

	for (size_t i = 0; i < size; i++)
		target[i] = source[i];
	return to;
}

void *memset(void *at, int byte, size_t size)
{
	unsigned char *target = at;

	for (size_t i = 0; i < size; i++)
		target[i] = (unsigned char)byte;
	return at;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *left = a, *right = b;

	for (size_t i = 0; i < size; i++) {
		if (left[i] != right[i])
			return left[i] - right[i];
	}
	return 0;
}

void *memchr(const void *at, int byte, size_t size)
{
	const unsigned char *bytes = at;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == (unsigned char)byte)
			return (void *)(uintptr_t)&bytes[i];
	}
	return NULL;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strncmp(const char *a, const char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (a[i] != b[i] || a[i] == '\0')
			return (unsigned char)a[i] - (unsigned char)b[i];
	}
	return 0;
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++) {
		if (*s == '\0')
			return NULL;
	}
	return (char *)(uintptr_t)s;
}
