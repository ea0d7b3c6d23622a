/*
 * Theory of operation: slices and numbers. Numbers are read digit by digit instead of with strtol,
 * which takes leading spaces, signs, and a NUL-terminated string, and reports through errno.
 */
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct str str_from(const char *s)
{
	return (struct str){ .p = s, .n = s ? strlen(s) : 0 };
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq((struct str){ s.p, prefix.n }, prefix);
}

bool str_ends(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq((struct str){ s.p + (s.n - suffix.n), suffix.n }, suffix);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	while (s.n > 0 && is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool str_split_once(struct str s, char at, struct str *ret_left, struct str *ret_right)
{
	const char *found = s.n > 0 ? memchr(s.p, at, s.n) : NULL;

	if (!found) {
		*ret_left = s;
		*ret_right = (struct str){ .p = s.n > 0 ? s.p + s.n : s.p, .n = 0 };
		return false;
	}
	*ret_left = (struct str){ .p = s.p, .n = (size_t)(found - s.p) };
	*ret_right = (struct str){ .p = found + 1, .n = s.n - ret_left->n - 1 };
	return true;
}

int str_to_u64(struct str s, uint64_t max, uint64_t *ret)
{
	bool is_over = false;
	uint64_t value = 0;

	if (s.n == 0)
		return -EINVAL;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -EINVAL;
		/* Reads on after an overflow: "99999999999999999999x" is no number at all. */
		is_over |= __builtin_mul_overflow(value, 10U, &value);
		is_over |= __builtin_add_overflow(value, (uint64_t)(s.p[i] - '0'), &value);
	}
	if (is_over || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int str_to_i64(struct str s, int64_t min, int64_t max, int64_t *ret)
{
	bool is_negative = s.n > 0 && s.p[0] == '-';
	uint64_t magnitude;
	int64_t value;
	int r;

	if (is_negative) {
		s.p++;
		s.n--;
	}
	r = str_to_u64(s, (uint64_t)INT64_MAX + (is_negative ? 1 : 0), &magnitude);
	if (r < 0)
		return r;
	/* Not -(int64_t)magnitude: that overflows for INT64_MIN. */
	value = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	if (value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

static unsigned size_shift(char suffix)
{
	switch (suffix) {
	case 'K':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	case 'T':
		return 40;
	default:
		return 0;
	}
}

int str_to_size(struct str s, uint64_t max_bytes, uint64_t *ret_bytes)
{
	unsigned shift = s.n > 0 ? size_shift(s.p[s.n - 1]) : 0;
	uint64_t value;
	int r;

	if (shift > 0)
		s.n--;
	r = str_to_u64(s, max_bytes >> shift, &value);
	if (r < 0)
		return r;
	*ret_bytes = value << shift;
	return 0;
}

int str_to_ms(struct str s, uint64_t max_ms, uint64_t *ret_ms)
{
	uint64_t whole, fraction = 0;
	struct str left, right;
	bool has_point = str_split_once(s, '.', &left, &right);
	int r;

	r = str_to_u64(left, max_ms / 1000, &whole);
	if (r < 0)
		return r;
	if (has_point) {
		if (right.n > 3)
			return -EINVAL;
		r = str_to_u64(right, 999, &fraction);
		if (r < 0)
			return r;
		for (size_t i = right.n; i < 3; i++)
			fraction *= 10;
	}
	if (fraction > max_ms - whole * 1000)
		return -ERANGE;
	*ret_ms = whole * 1000 + fraction;
	return 0;
}

int str_format(char *buf, size_t size, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(buf, size, format, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < size)
		return 0;
	if (size > 0)
		buf[0] = '\0';
	return -ENOSPC;
}

int str_copy(char *dst, size_t size, const char *src)
{
	size_t n = strnlen(src, size);

	if (n < size) {
		memcpy(dst, src, n + 1);
		return 0;
	}
	if (size > 0)
		dst[0] = '\0';
	return -ENOSPC;
}
