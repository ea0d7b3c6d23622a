#include "crypt/hash.h"

#include "base/assert.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

struct hash hash_make(struct str bytes)
{
	struct hash hash;
	int r = gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes.p, bytes.n, hash.bytes);

	assert(r == 0);
	return hash;
}

bool hash_is_equal(const struct hash *a, const struct hash *b)
{
	return gnutls_memcmp(a->bytes, b->bytes, HASH_SIZE) == 0;
}

void hash_format(const struct hash *hash, char ret_text[HASH_TEXT_SIZE])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < HASH_SIZE; i++) {
		ret_text[2 * i] = digits[hash->bytes[i] >> 4];
		ret_text[2 * i + 1] = digits[hash->bytes[i] & 15];
	}
	ret_text[HASH_TEXT_SIZE - 1] = '\0';
}

/* The value of a lower-case hexadecimal digit, or -1. */
static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int hash_parse(struct str text, struct hash *ret_hash)
{
	struct hash hash;

	if (text.n != HASH_TEXT_SIZE - 1)
		return -EINVAL;
	for (size_t i = 0; i < HASH_SIZE; i++) {
		int high = digit_value(text.p[2 * i]), low = digit_value(text.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		hash.bytes[i] = (uint8_t)(high << 4 | low);
	}
	*ret_hash = hash;
	return 0;
}
