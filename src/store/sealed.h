#pragma once

#include "base/str.h"
#include "crypt/key.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A sealed file: bytes in pieces of 64 KiB, each encrypted and authenticated with its number and
 * whether it is the last, under a key of the file's own. So a file that was cut, put together anew,
 * changed, or is another one does not open. The form (all numbers little-endian):
 *
 *	magic (8) | salt (16) | piece: 65,536 bytes and tag (16) | ... | last piece, 0 to 65,536 |
 *tag
 */

struct aead;

#define SEALED_PIECE	 (64u * 1024)
#define SEALED_SALT_SIZE 16
#define SEALED_HEAD_SIZE (8 + SEALED_SALT_SIZE)

/* How much may be written in all; shared by threads. */
struct sealed_budget {
	_Atomic uint64_t used;
	uint64_t max;
};

/* What a file is, for its key: the same words are needed to read it. */
struct sealed_name {
	const struct key *root;
	const char *label; /* a literal */
	struct str parts[KEY_PARTS_MAX - 1];
	size_t n_parts;
};

struct sealed_writer {
	int fd; /* borrowed */
	struct aead *aead;
	struct sealed_budget *budget; /* borrowed; counts every byte that was written */
	uint8_t *plain, *sealed;
	size_t n; /* in plain */
	uint64_t counter;
	uint64_t written; /* bytes of the file so far */
	bool is_unbounded;
};

/* Begins at the start of an empty file. End it with sealed_writer_fini, also after an error; the
 * file is whole only after sealed_writer_end. Each returns 0 or -errno: -EDQUOT over the budget
 * (unless is_unbounded), -ENOSPC and others of write(2). What was written stays counted: the owner
 * of the file takes it off when it removes it. */
int sealed_writer_begin(struct sealed_writer *writer, int fd, const struct sealed_name *name,
	struct sealed_budget *budget, bool is_unbounded);
int sealed_writer_add(struct sealed_writer *writer, const void *data, size_t size);
int sealed_writer_end(struct sealed_writer *writer);
void sealed_writer_fini(struct sealed_writer *writer);

struct sealed_reader {
	int fd; /* borrowed */
	struct aead *aead;
	uint8_t *plain, *sealed;
	size_t n, at; /* in plain: there, and read */
	uint64_t counter;
	uint64_t left; /* bytes of the file not yet read */
	bool is_over;  /* the last piece is in plain */
};

/* Begins at the start of a file. End it with sealed_reader_fini, also after an error. Each returns
 * -EBADMSG for a file that is not what name says, whole and unchanged, or -errno. */
int sealed_reader_begin(struct sealed_reader *reader, int fd, const struct sealed_name *name);

/* Reads exactly size bytes: 0, or -EBADMSG if there are not so many. */
int sealed_reader_get(struct sealed_reader *reader, void *data, size_t size);

/* Borrows what is next, at most max bytes, until the next call: more than 0, or 0 at the end. */
int sealed_reader_peek(struct sealed_reader *reader, size_t max, const void **ret_data);
void sealed_reader_fini(struct sealed_reader *reader);
