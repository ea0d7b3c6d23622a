#pragma once

#include "crypt/key.h"

#include <stddef.h>
#include <stdint.h>

/* AES-256-GCM: bytes that nobody reads, and nobody changes unseen, without the key. NIST SP
 * 800-38D; GnuTLS takes the processor's instructions for it. One thread at a time. */

#define AEAD_TAG_SIZE	16
#define AEAD_NONCE_SIZE 12

struct aead;

/* The key is copied. Aborts when the library cannot. End it with aead_free (NULL is fine). */
struct aead *aead_new(const struct key *key);
void aead_free(struct aead *aead);

/* Encrypts size bytes into ret_sealed, which takes size + AEAD_TAG_SIZE. A nonce must never be used
 * twice with one key. Returns 0 or -EIO. */
int aead_seal(struct aead *aead, const uint8_t nonce[AEAD_NONCE_SIZE], const void *data,
	size_t size, void *ret_sealed);

/* Decrypts size bytes, tag included, into ret_data, which takes size - AEAD_TAG_SIZE. Returns 0, or
 * -EBADMSG when key, nonce or a bit of the data is another: then ret_data holds nothing of use. */
int aead_open(struct aead *aead, const uint8_t nonce[AEAD_NONCE_SIZE], const void *sealed,
	size_t size, void *ret_data);
