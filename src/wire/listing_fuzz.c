/*
 * Any bytes as a listing: each record lies inside of them, and the walk moves on and ends.
 */
#include "wire/listing.h"

#include "base/assert.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* listing.h wants an alignment of 8; malloc's own bounds are seen by AddressSanitizer */
	char *listing = malloc(size > 0 ? size : 1);
	const struct listing_entry *entry;
	const char *path;
	size_t at = 0, before = 0;
	int r;

	assert(listing);
	if (size > 0)
		memcpy(listing, data, size);
	while ((r = listing_next(listing, size, &at, &entry, &path)) == 1) {
		assert(at > before && at <= size && at % 8 == 0);
		assert((const char *)entry == listing + before);
		assert(entry->kind < LISTING_KIND_MAX && entry->path_size > 0);
		assert(path >= listing && path + entry->path_size <= listing + at);
		assert(!memchr(path, '\0', entry->path_size));
		before = at;
	}
	assert(r < 0 ? at == before : at == size);
	free(listing);
	return 0;
}
