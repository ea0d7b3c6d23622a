#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * struct str is a slice for reading: it borrows its bytes and needs no NUL at the end. Nothing here
 * allocates, so that cloche-init may link it.
 */

struct str {
	const char *p;
	size_t n;
};

/* A slice of a string literal. */
#define STR(literal) ((struct str){ .p = ("" literal), .n = sizeof(literal) - 1 })

/* For "%.*s" in printf-like calls: `printf("%.*s", STR_ARG(s))`. */
#define STR_ARG(s) (int)(s).n, (s).p

/* A slice over the C string s, without its NUL; NULL gives an empty slice. */
struct str str_from(const char *s);

/* True if both hold the same bytes. */
bool str_eq(struct str a, struct str b);

/* True if s begins, or ends, with the other. */
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);

/* s without spaces, tabs, CR and LF at both ends. */
struct str str_trim(struct str s);

/* Splits s at its first `at`. True if it was found; else *ret_left is s and *ret_right empty. s is
 * passed by value, so ret_left or ret_right may point to the caller's s. */
bool str_split_once(struct str s, char at, struct str *ret_left, struct str *ret_right);

/* Decimal digits only, no sign, no space. Returns 0, -EINVAL, or -ERANGE above max. */
int str_to_u64(struct str s, uint64_t max, uint64_t *ret);

/* Decimal digits, a minus sign allowed. Returns 0, -EINVAL, or -ERANGE outside min .. max. */
int str_to_i64(struct str s, int64_t min, int64_t max, int64_t *ret);

/* "4096", "64K", "256M", "2G", "1T" (powers of 1024, upper case) to bytes. Errors: str_to_u64. */
int str_to_size(struct str s, uint64_t max_bytes, uint64_t *ret_bytes);

/* Seconds, at most three decimals ("30", "1.5"), to milliseconds. Errors: str_to_u64. */
int str_to_ms(struct str s, uint64_t max_ms, uint64_t *ret_ms);

/* Formats into buf of size bytes. Returns 0, or -ENOSPC if it does not fit: then buf is "". */
__attribute__((format(printf, 3, 4))) int str_format(
	char *buf, size_t size, const char *format, ...);

/* Copies the C string src into dst of size bytes. Returns 0, or -ENOSPC: then dst is "". */
int str_copy(char *dst, size_t size, const char *src);
