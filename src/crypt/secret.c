#include "crypt/secret.h"

#include "base/assert.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

void secret_make(char ret_text[SECRET_LEN + 1])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char random[SECRET_LEN];
	int r = gnutls_rnd(GNUTLS_RND_KEY, random, sizeof(random));

	assert(r == 0);
	for (size_t i = 0; i < SECRET_LEN; i++)
		ret_text[i] = letters[random[i] & 31];
	ret_text[SECRET_LEN] = '\0';
	gnutls_memset(random, 0, sizeof(random));
}
