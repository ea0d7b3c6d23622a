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
 * The hash of a file's data under a key, to see that it changed: the same bytes in the same extents
 * give the same hash, read in whatever pieces. Of two files that are made without the key, however
 * they are chosen, the hashes are the same with a chance of about 2^-120: as long as nobody is told
 * a hash, trying says no more than that these two differ. UMAC-128 with one nonce for all, RFC 4418
 */
#define EXTENT_KEY_SIZE 16

struct extent_key {
	uint8_t bytes[EXTENT_KEY_SIZE];
};

/* A key that nobody guesses. Aborts when the kernel has none, which it has. */
void extent_key_make(struct extent_key *ret_key);

struct extent_hash;

/* For one file after the other. Never NULL; end it with extent_hash_free (NULL is fine). */
struct extent_hash *extent_hash_new(const struct extent_key *key);
void extent_hash_free(struct extent_hash *hash);

/* A new extent begins; then its bytes, in any pieces; then the file's size and the result. */
void extent_hash_begin(struct extent_hash *hash, uint64_t offset);
void extent_hash_add(struct extent_hash *hash, const void *data, size_t size);
void extent_hash_end(struct extent_hash *hash, uint64_t file_size, uint64_t ret_hash[2]);
