/*
 * Theory of operation: each file has a key of its own, derived from its name and a random salt, so
 * that the nonce may be a plain counter. The nonce's last byte says that a piece is the last one
 * (the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizar): without it a cut at a
 * piece's end would not show. Which piece is the last follows from the file's size, and whoever
 * lies about that gets the wrong nonce.
 */
#include "store/sealed.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/macro.h"
#include "crypt/aead.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char magic[] = "CLOCHES1";

#define MAGIC_SIZE 8
#define PIECE_MAX  (SEALED_PIECE + AEAD_TAG_SIZE)

static void nonce_make(uint64_t counter, bool is_last, uint8_t ret_nonce[AEAD_NONCE_SIZE])
{
	memset(ret_nonce, 0, AEAD_NONCE_SIZE);
	memcpy(ret_nonce, &counter, sizeof(counter));
	ret_nonce[AEAD_NONCE_SIZE - 1] = is_last;
}

static struct aead *cipher_make(const struct sealed_name *name, const uint8_t *salt)
{
	struct str parts[KEY_PARTS_MAX];
	struct aead *aead;
	struct key key;

	memcpy(parts, name->parts, sizeof(name->parts));
	parts[name->n_parts] = (struct str){ .p = (const char *)salt, .n = SEALED_SALT_SIZE };
	key_derive(name->root, name->label, parts, name->n_parts + 1, &key);
	aead = aead_new(&key);
	key_wipe(&key);
	return aead;
}

static int write_counted(struct sealed_writer *writer, const void *data, size_t size)
{
	uint64_t before = atomic_fetch_add(&writer->budget->used, size);
	int r = 0;

	if (!writer->is_unbounded &&
		(before > writer->budget->max || size > writer->budget->max - before))
		r = -EDQUOT;
	if (r == 0)
		r = fd_write_full(writer->fd, data, size);
	if (r < 0)
		(void)atomic_fetch_sub(&writer->budget->used, size);
	else
		writer->written += size;
	return r;
}

int sealed_writer_begin(struct sealed_writer *writer, int fd, const struct sealed_name *name,
	struct sealed_budget *budget, bool is_unbounded)
{
	uint8_t head[SEALED_HEAD_SIZE];

	memcpy(head, magic, MAGIC_SIZE);
	key_random(head + MAGIC_SIZE, SEALED_SALT_SIZE);
	*writer = (struct sealed_writer){ .fd = fd,
		.aead = cipher_make(name, head + MAGIC_SIZE),
		.budget = budget,
		.plain = xmalloc(SEALED_PIECE),
		.sealed = xmalloc(PIECE_MAX),
		.is_unbounded = is_unbounded };
	return write_counted(writer, head, sizeof(head));
}

static int piece_write(struct sealed_writer *writer, bool is_last)
{
	uint8_t nonce[AEAD_NONCE_SIZE];
	int r;

	nonce_make(writer->counter++, is_last, nonce);
	r = aead_seal(writer->aead, nonce, writer->plain, writer->n, writer->sealed);
	if (r == 0)
		r = write_counted(writer, writer->sealed, writer->n + AEAD_TAG_SIZE);
	writer->n = 0;
	return r;
}

/* A full piece is written when more comes: only then is it known not to be the last. */
int sealed_writer_add(struct sealed_writer *writer, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	int r = 0;

	while (r == 0 && size > 0) {
		size_t n;

		if (writer->n == SEALED_PIECE)
			r = piece_write(writer, false);
		n = MIN(size, SEALED_PIECE - writer->n);
		memcpy(writer->plain + writer->n, bytes, n);
		writer->n += n;
		bytes += n;
		size -= n;
	}
	return r;
}

int sealed_writer_end(struct sealed_writer *writer)
{
	return piece_write(writer, true);
}

static void piece_free(uint8_t *piece)
{
	if (piece)
		explicit_bzero(piece, SEALED_PIECE);
	free(piece);
}

void sealed_writer_fini(struct sealed_writer *writer)
{
	aead_free(writer->aead);
	piece_free(writer->plain);
	free(writer->sealed);
	*writer = (struct sealed_writer){ .fd = -1 };
}

int sealed_reader_begin(struct sealed_reader *reader, int fd, const struct sealed_name *name)
{
	uint8_t head[SEALED_HEAD_SIZE];
	struct stat st;
	ssize_t n;

	*reader = (struct sealed_reader){ .fd = fd };
	if (fstat(fd, &st) < 0)
		return -errno;
	n = fd_read_full(fd, head, sizeof(head));
	if (n < 0)
		return (int)n;
	if (n != sizeof(head) || memcmp(head, magic, MAGIC_SIZE) != 0 || st.st_size < n)
		return -EBADMSG;
	reader->left = (uint64_t)(st.st_size - n);
	reader->aead = cipher_make(name, head + MAGIC_SIZE);
	reader->plain = xmalloc(SEALED_PIECE);
	reader->sealed = xmalloc(PIECE_MAX);
	return 0;
}

static int piece_read(struct sealed_reader *reader)
{
	size_t size = (size_t)MIN(reader->left, (uint64_t)PIECE_MAX);
	uint8_t nonce[AEAD_NONCE_SIZE];
	ssize_t n = fd_read_full(reader->fd, reader->sealed, size);
	int r;

	if (n < 0)
		return (int)n;
	if ((size_t)n != size || size < AEAD_TAG_SIZE)
		return -EBADMSG;
	reader->left -= size;
	reader->is_over = reader->left == 0;
	nonce_make(reader->counter++, reader->is_over, nonce);
	r = aead_open(reader->aead, nonce, reader->sealed, size, reader->plain);
	reader->at = 0;
	reader->n = r == 0 ? size - AEAD_TAG_SIZE : 0;
	return r;
}

int sealed_reader_peek(struct sealed_reader *reader, size_t max, const void **ret_data)
{
	size_t n;

	while (reader->at == reader->n) {
		int r = reader->is_over ? 0 : piece_read(reader);

		if (r < 0)
			return r;
		if (reader->at == reader->n && reader->is_over)
			return 0;
	}
	n = MIN(max, reader->n - reader->at);
	*ret_data = reader->plain + reader->at;
	reader->at += n;
	return (int)n;
}

int sealed_reader_get(struct sealed_reader *reader, void *data, size_t size)
{
	uint8_t *bytes = data;

	while (size > 0) {
		const void *next = NULL;
		int n = sealed_reader_peek(reader, size, &next);

		if (n <= 0)
			return n < 0 ? n : -EBADMSG;
		memcpy(bytes, next, (size_t)n);
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

void sealed_reader_fini(struct sealed_reader *reader)
{
	aead_free(reader->aead);
	piece_free(reader->plain);
	free(reader->sealed);
	*reader = (struct sealed_reader){ .fd = -1 };
}
