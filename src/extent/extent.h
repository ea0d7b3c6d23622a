#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Files with holes: where their data lies, and a hash of that which does not read the holes. A
 * script can give a file of one byte any size, and thousands of them cost nothing here.
 */

/* A part of a file that is no hole. */
struct extent {
	uint64_t offset;
	uint64_t size; /* bytes, more than 0 */
};

/* Finds the first data at or after `at` and before `end`. Returns 1 with *ret_extent (cut at end),
 * 0 when there is none, or -errno. Moves the position of fd. lseek(2), SEEK_DATA */
int extent_next(int fd, uint64_t at, uint64_t end, struct extent *ret_extent);

/*
 * The hash of a file's data, to see that it changed: the same bytes in the same extents give the
 * same hash, read in whatever pieces. Not cryptographic: who makes two files collide deceives
 * himself about his own files.
 */
struct extent_hash;

/* Never NULL; end it with extent_hash_free (NULL is fine). */
struct extent_hash *extent_hash_new(void);
void extent_hash_free(struct extent_hash *hash);

/* A new extent begins; then its bytes, in any pieces; then the file's size and the result. */
void extent_hash_begin(struct extent_hash *hash, uint64_t offset);
void extent_hash_add(struct extent_hash *hash, const void *data, size_t size);
void extent_hash_end(struct extent_hash *hash, uint64_t file_size, uint64_t ret_hash[2]);
