#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ID_LEN	   20  /* 20 * 5 bits = 100 random bits: two alike never meet, none is guessed */
#define ID_KEY_MAX 128 /* bytes of a session key */

/* Writes ID_LEN characters of lower-case base32 (a-z2-7) and NUL, random. Returns 0 or -errno.
 * getrandom(2), RFC 4648 section 6 */
int id_make(char ret_id[ID_LEN + 1]);

/* True for a session key: 1 to 128 of A-Za-z0-9._:- and neither "." nor "..". */
bool id_key_is_valid(const char *s, size_t n);
