#pragma once

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/* Keys of 256 bits, and keys made out of keys. */

#define KEY_SIZE 32

struct key {
	uint8_t bytes[KEY_SIZE];
};

/* Makes size random bytes that nobody guesses. Aborts when the library has none. */
void key_random(void *ret_bytes, size_t size);

/*
 * Derives a key from another one (random, or itself derived) by HKDF-SHA256. What it is for is the
 * label, a literal, and the parts, whose lengths count: ("ab", "c") and ("a", "bc") give different
 * keys. At most KEY_PARTS_MAX parts, of KEY_INFO_MAX bytes in all. Aborts when the library cannot,
 * which it can. RFC 5869
 */
#define KEY_PARTS_MAX 4
#define KEY_INFO_MAX  8192 /* the longest part is a path of 4,096 bytes */
void key_derive(const struct key *from, const char *label, const struct str *parts, size_t n_parts,
	struct key *ret_key);

/* Forgets it; the compiler does not leave this out. */
void key_wipe(struct key *key);
