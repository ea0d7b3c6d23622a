#include "jail/files/base64.h"

#include "base/buf.h"

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
