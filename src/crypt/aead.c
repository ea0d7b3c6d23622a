#include "crypt/aead.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>

struct aead {
	gnutls_aead_cipher_hd_t cipher;
};

struct aead *aead_new(const struct key *key)
{
	struct aead *aead = xcalloc(1, sizeof(*aead));
	const gnutls_datum_t datum = { (unsigned char *)(uintptr_t)key->bytes, KEY_SIZE };
	int r = gnutls_aead_cipher_init(&aead->cipher, GNUTLS_CIPHER_AES_256_GCM, &datum);

	assert(r == 0);
	return aead;
}

void aead_free(struct aead *aead)
{
	if (!aead)
		return;
	gnutls_aead_cipher_deinit(aead->cipher);
	free(aead);
}

int aead_seal(struct aead *aead, const uint8_t nonce[AEAD_NONCE_SIZE], const void *data,
	size_t size, void *ret_sealed)
{
	size_t n = size + AEAD_TAG_SIZE;
	int r = gnutls_aead_cipher_encrypt(aead->cipher, nonce, AEAD_NONCE_SIZE, NULL, 0,
		AEAD_TAG_SIZE, data, size, ret_sealed, &n);

	return r < 0 || n != size + AEAD_TAG_SIZE ? -EIO : 0;
}

int aead_open(struct aead *aead, const uint8_t nonce[AEAD_NONCE_SIZE], const void *sealed,
	size_t size, void *ret_data)
{
	size_t n;
	int r;

	if (size < AEAD_TAG_SIZE)
		return -EBADMSG;
	n = size - AEAD_TAG_SIZE;
	r = gnutls_aead_cipher_decrypt(aead->cipher, nonce, AEAD_NONCE_SIZE, NULL, 0, AEAD_TAG_SIZE,
		sealed, size, ret_data, &n);
	return r < 0 || n != size - AEAD_TAG_SIZE ? -EBADMSG : 0;
}
