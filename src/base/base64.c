#include "base/base64.h"

#include "base/buf.h"

#include <errno.h>
#include <stdint.h>

int base64_encode(struct str bytes, struct buf *out)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes.n; i += 3) {
		size_t left = bytes.n - i;
		uint32_t bits = (uint32_t)(unsigned char)bytes.p[i] << 16;
		char four[4];
		int r;

		if (left > 1)
			bits |= (uint32_t)(unsigned char)bytes.p[i + 1] << 8;
		if (left > 2)
			bits |= (uint32_t)(unsigned char)bytes.p[i + 2];
		for (unsigned k = 0; k < 4; k++)
			four[k] = alphabet[bits >> (18 - 6 * k) & 0x3f];
		if (left < 3)
			four[3] = '=';
		if (left < 2)
			four[2] = '=';
		r = buf_add(out, four, sizeof(four));
		if (r < 0)
			return r;
	}
	return 0;
}

/* The six bits of a character, or -1. */
static int sextet(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

/* One group of four, of which the last `padding` are '='. */
static int group_decode(const char four[4], unsigned padding, struct buf *out)
{
	char bytes[3];
	uint32_t bits = 0;

	for (unsigned k = 0; k < 4; k++) {
		int value = k >= 4 - padding ? 0 : sextet(four[k]);

		if (value < 0)
			return -EBADMSG;
		bits = bits << 6 | (uint32_t)value;
	}
	if (bits & ((1u << 8 * padding) - 1))
		return -EBADMSG;
	for (unsigned k = 0; k < 3; k++)
		bytes[k] = (char)(bits >> (16 - 8 * k) & 0xff);
	return buf_add(out, bytes, 3 - padding);
}

int base64_decode(struct str text, struct buf *out)
{
	int r = text.n % 4 == 0 ? 0 : -EBADMSG;

	for (size_t i = 0; i < text.n && r == 0; i += 4) {
		const char *four = text.p + i;
		unsigned padding = 0;

		if (i + 4 == text.n && four[3] == '=')
			padding = four[2] == '=' ? 2 : 1;
		r = group_decode(four, padding, out);
	}
	return r;
}
