#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* SHA-256, to know bytes again without keeping them. FIPS 180-4 */

#define HASH_SIZE      32
#define HASH_TEXT_SIZE (HASH_SIZE * 2 + 1) /* hexadecimal and NUL */

struct hash {
	uint8_t bytes[HASH_SIZE];
};

/* The hash of bytes. Aborts when the library cannot, which it can. */
struct hash hash_make(struct str bytes);

/* True if both are the same; takes as long wherever they differ. */
bool hash_is_equal(const struct hash *a, const struct hash *b);

/* Lower-case hexadecimal digits, and back: 0, or -EINVAL for anything else. */
void hash_format(const struct hash *hash, char ret_text[HASH_TEXT_SIZE]);
int hash_parse(struct str text, struct hash *ret_hash);
