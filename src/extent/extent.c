#include "extent/extent.h"

#include "base/alloc.h"
#include "base/macro.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

struct extent_hash {
	XXH3_state_t *state;
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

struct extent_hash *extent_hash_new(void)
{
	struct extent_hash *hash = xcalloc(1, sizeof(*hash));

	hash->state = XXH3_createState();
	if (!hash->state)
		abort();
	(void)XXH3_128bits_reset(hash->state);
	return hash;
}

void extent_hash_free(struct extent_hash *hash)
{
	if (!hash)
		return;
	(void)XXH3_freeState(hash->state);
	free(hash);
}

void extent_hash_begin(struct extent_hash *hash, uint64_t offset)
{
	(void)XXH3_128bits_update(hash->state, &offset, sizeof(offset));
}

void extent_hash_add(struct extent_hash *hash, const void *data, size_t size)
{
	(void)XXH3_128bits_update(hash->state, data, size);
}

void extent_hash_end(struct extent_hash *hash, uint64_t file_size, uint64_t ret_hash[2])
{
	XXH128_hash_t result;

	(void)XXH3_128bits_update(hash->state, &file_size, sizeof(file_size));
	result = XXH3_128bits_digest(hash->state);
	ret_hash[0] = result.low64;
	ret_hash[1] = result.high64;
	(void)XXH3_128bits_reset(hash->state);
}
