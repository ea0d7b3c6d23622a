#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The listing of a home, as the walker writes it and the client reads it: records one after the
 * other, each a fixed head and the path's bytes, padded to eight. Paths are bytes that a script
 * chose: relative, without NUL, perhaps not UTF-8.
 */

/* Most entries in a listing: all inodes that the largest sensible home has. */
#define LISTING_ENTRIES_MAX 70000
#define LISTING_SIZE_MAX    (64u * 1024 * 1024)

enum listing_kind {
	LISTING_FILE,
	LISTING_FOLDER,
	LISTING_LINK,
	LISTING_OTHER,
	LISTING_KIND_MAX
};

struct listing_entry {
	uint32_t record_size; /* of the whole record, a multiple of 8 */
	uint16_t path_size;   /* without NUL */
	uint8_t kind;
	uint8_t is_hashed;
	uint32_t mode; /* permission bits */
	uint32_t links;
	uint64_t size_bytes;
	uint64_t inode;
	int64_t mtime_ns;
	int64_t ctime_ns;
	uint64_t hash[2]; /* of the content, when is_hashed */
};

/* Bytes of a record for a path of this length. */
size_t listing_record_size(size_t path_size);

/*
 * Walks a listing of size bytes at data: *at is the position (0 at first). Returns 1 with
 * *ret_entry and *ret_path (path_size bytes, not NUL-ended, in data), 0 at the end, -EBADMSG when
 * the bytes are no listing. data must be aligned to 8, as a mapping is.
 */
int listing_next(const void *data, size_t size, size_t *at, const struct listing_entry **ret_entry,
	const char **ret_path);
