#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The listing of a home, as the walker writes it and the client reads it: records one after the
 * other, each a fixed head, the path's bytes and, for a link, those of where it points to, padded
 * to eight. Both are bytes that a script chose, without NUL, perhaps not UTF-8; paths are relative.
 */

/* Most entries in a listing: all inodes that the largest sensible home has. */
#define LISTING_ENTRIES_MAX 70000
#define LISTING_SIZE_MAX    (64u * 1024 * 1024)
#define LISTING_TARGET_MAX  4095 /* of symlink(2), without NUL */

enum listing_kind {
	LISTING_FILE,
	LISTING_FOLDER,
	LISTING_LINK,
	LISTING_OTHER,
	LISTING_KIND_MAX
};

/* Why a listing does not hold all. */
enum listing_cut {
	LISTING_CUT_ROOM = 1, /* too many entries, or bytes of paths */
	LISTING_CUT_TIME = 2, /* it took too long */
	LISTING_CUT_PATH = 4, /* a path is too long to be said */
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
	uint64_t hash[2];     /* of the content (extent/extent.h), when is_hashed */
	uint32_t target_size; /* of what a link points to, without NUL; 0: not told */
	uint32_t reserved;    /* 0 */
};

/* Bytes of a record for a path of this length, target included. */
size_t listing_record_size(size_t names_size);

/*
 * Walks a listing of size bytes at data: *at is the position (0 at first). Returns 1 with
 * *ret_entry and *ret_path (path_size bytes, not NUL-ended, in data; the target's come behind), 0
 * at the end, -EBADMSG when the bytes are no listing. data must be aligned to 8, as a mapping is.
 */
int listing_next(const void *data, size_t size, size_t *at, const struct listing_entry **ret_entry,
	const char **ret_path);
