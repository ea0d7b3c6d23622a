#include "extent/extent.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/macro.h"

#include <errno.h>
#include <nettle/umac.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct extent_hash {
	struct umac128_ctx umac;
};

int extent_next(int fd, uint64_t at, uint64_t end, struct extent *ret_extent)
{
	off_t data, hole;

	if (at >= end)
		return 0;
	data = lseek(fd, (off_t)at, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? 0 : -errno; /* nothing but a hole to the end */
	if ((uint64_t)data >= end)
		return 0;
	hole = lseek(fd, data, SEEK_HOLE);
	if (hole < 0)
		return -errno;
	*ret_extent = (struct extent){ .offset = (uint64_t)data,
		.size = MIN((uint64_t)hole, end) - (uint64_t)data };
	/* The file was changed between the two calls, or lies: no progress must not become a loop.
	 */
	return ret_extent->size > 0 ? 1 : -EAGAIN;
}

void extent_key_make(struct extent_key *ret_key)
{
	ssize_t n = getrandom(ret_key->bytes, sizeof(ret_key->bytes), 0);

	assert(n == sizeof(ret_key->bytes)); /* so few bytes come whole or not at all */
}

/* The nonce hides a hash from whoever is shown it. Nobody is, so it is the same for each. */
static void nonce_set(struct extent_hash *hash)
{
	static const uint8_t nonce[UMAC_MAX_NONCE_SIZE];

	umac128_set_nonce(&hash->umac, sizeof(nonce), nonce);
}

struct extent_hash *extent_hash_new(const struct extent_key *key)
{
	struct extent_hash *hash = xcalloc(1, sizeof(*hash));

	static_assert(EXTENT_KEY_SIZE == UMAC_KEY_SIZE, "the key of AES-128");
	umac128_set_key(&hash->umac, key->bytes);
	nonce_set(hash);
	return hash;
}

void extent_hash_free(struct extent_hash *hash)
{
	if (!hash)
		return;
	explicit_bzero(hash, sizeof(*hash));
	free(hash);
}

void extent_hash_begin(struct extent_hash *hash, uint64_t offset)
{
	extent_hash_add(hash, &offset, sizeof(offset));
}

void extent_hash_add(struct extent_hash *hash, const void *data, size_t size)
{
	umac128_update(&hash->umac, size, data);
}

void extent_hash_end(struct extent_hash *hash, uint64_t file_size, uint64_t ret_hash[2])
{
	static_assert(2 * sizeof(*ret_hash) == UMAC128_DIGEST_SIZE, "all of it");
	extent_hash_add(hash, &file_size, sizeof(file_size));
	umac128_digest(&hash->umac, UMAC128_DIGEST_SIZE, (uint8_t *)ret_hash);
	nonce_set(hash); /* which counts by itself */
}
