/*
 * Theory of operation: an id is random bits and nothing else: no time, no counter, so it tells
 * nothing and cannot be guessed. 5 bits of each random byte give one character without bias.
 */
#include "base/id.h"

#include <errno.h>
#include <sys/random.h>

int id_make(char ret_id[ID_LEN + 1])
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[ID_LEN];
	ssize_t n;

	/* Up to 256 bytes come whole once the pool is ready; before that it may be interrupted. */
	do
		n = getrandom(bytes, sizeof(bytes), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n != sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < ID_LEN; i++)
		ret_id[i] = alphabet[bytes[i] & 31];
	ret_id[ID_LEN] = '\0';
	return 0;
}

static bool is_key_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == ':' || c == '-';
}

bool id_key_is_valid(const char *s, size_t n)
{
	if (n < 1 || n > ID_KEY_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_key_char(s[i]))
			return false;
	/* A key may name a folder of the store. */
	return !(s[0] == '.' && (n == 1 || (n == 2 && s[1] == '.')));
}
