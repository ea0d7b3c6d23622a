#pragma once

/* Words that nobody guesses. */

#define SECRET_LEN 52 /* 52 * 5 = 260 random bits */

/* Writes SECRET_LEN random characters of lower-case base32 (a-z2-7) and NUL. Aborts when the
 * library has no randomness. RFC 4648 section 6 */
void secret_make(char ret_text[SECRET_LEN + 1]);
