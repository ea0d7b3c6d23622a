/*
 * What does not fit into ustar's fields goes into a pax head before: long names, times with parts
 * of a second or before 1970. All tars of today read that; owners are nobody's and left out.
 */
#include "tar/write.h"

#include "base/buf.h"
#include "tar/block.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OCTAL_SIZE_MAX ((uint64_t)077777777777) /* eleven digits */
#define NSEC_PER_SEC   1000000000

uint64_t tar_padding(uint64_t size_bytes)
{
	return (TAR_BLOCK - size_bytes % TAR_BLOCK) % TAR_BLOCK;
}

static void octal_set(char *field, size_t size, uint64_t value)
{
	(void)snprintf(field, size, "%0*" PRIo64, (int)size - 1, value);
}

static void text_set(char *field, size_t size, struct str text)
{
	memcpy(field, text.p, text.n < size ? text.n : size);
}

static void checksum_set(struct tar_block *block)
{
	const unsigned char *bytes = (const unsigned char *)block;
	unsigned sum = 0;

	memset(block->checksum, ' ', sizeof(block->checksum));
	for (size_t i = 0; i < sizeof(*block); i++)
		sum += bytes[i];
	(void)snprintf(block->checksum, sizeof(block->checksum), "%06o", sum);
	block->checksum[7] = ' ';
}

static int block_add(struct buf *out, char type, const struct tar_entry *entry)
{
	struct tar_block block = { .type = type };
	int64_t seconds = entry->mtime_ns / NSEC_PER_SEC;

	text_set(block.name, sizeof(block.name), entry->path);
	text_set(block.target, sizeof(block.target), entry->target);
	octal_set(block.mode, sizeof(block.mode), entry->mode & 07777);
	octal_set(block.uid, sizeof(block.uid), 0);
	octal_set(block.gid, sizeof(block.gid), 0);
	octal_set(block.size, sizeof(block.size), entry->size_bytes);
	octal_set(block.mtime, sizeof(block.mtime),
		seconds > 0 && (uint64_t)seconds <= OCTAL_SIZE_MAX ? (uint64_t)seconds : 0);
	memcpy(block.magic, "ustar\00000", 8);
	checksum_set(&block);
	return buf_add(out, &block, sizeof(block));
}

/* A record "LENGTH name=value\n", whose length counts its own digits. */
static int record_add(struct buf *out, const char *name, struct str value)
{
	size_t n = strlen(name) + value.n + 3, digits = 1;
	int r;

	for (size_t rest = n + digits; rest >= 10; rest /= 10)
		digits++;
	if (snprintf(NULL, 0, "%zu", n + digits) != (int)digits)
		digits++;
	r = buf_addf(out, "%zu %s=", n + digits, name);
	if (r == 0)
		r = buf_add_slice(out, value);
	return r < 0 ? r : buf_add_char(out, '\n');
}

static int mtime_add(struct buf *out, int64_t mtime_ns)
{
	uint64_t size = mtime_ns < 0 ? -(uint64_t)mtime_ns : (uint64_t)mtime_ns;
	char text[48];

	(void)str_format(text, sizeof(text), "%s%" PRIu64 ".%09" PRIu64, mtime_ns < 0 ? "-" : "",
		size / NSEC_PER_SEC, size % NSEC_PER_SEC);
	return record_add(out, "mtime", str_from(text));
}

static int padding_add(struct buf *out, uint64_t size_bytes)
{
	static const char zeros[TAR_BLOCK];

	return buf_add(out, zeros, (size_t)tar_padding(size_bytes));
}

/* What ustar cannot say of the entry. */
static int records_add(struct buf *out, const struct tar_entry *entry)
{
	int r = 0;

	if (entry->path.n >= sizeof(((struct tar_block *)0)->name))
		r = record_add(out, "path", entry->path);
	if (r == 0 && entry->target.n >= sizeof(((struct tar_block *)0)->target))
		r = record_add(out, "linkpath", entry->target);
	if (r == 0 && (entry->mtime_ns < 0 || entry->mtime_ns % NSEC_PER_SEC != 0))
		r = mtime_add(out, entry->mtime_ns);
	return r;
}

int tar_write_head(const struct tar_entry *entry, struct buf *out)
{
	static const char types[TAR_KIND_MAX] = {
		[TAR_FILE] = '0', [TAR_FOLDER] = '5', [TAR_LINK] = '2', [TAR_SAME] = '1'
	};
	AUTO_BUF struct buf records = BUF_INIT(2 * TAR_NAME_MAX + TAR_BLOCK);
	int r = entry->size_bytes > OCTAL_SIZE_MAX ? -ENOBUFS : records_add(&records, entry);

	if (r == 0 && records.len > 0) {
		const struct tar_entry extended = { .path = STR("pax"),
			.mode = 0600,
			.target = STR(""),
			.size_bytes = records.len };

		r = block_add(out, 'x', &extended);
		if (r == 0)
			r = buf_add_slice(out, buf_get_slice(&records));
		if (r == 0)
			r = padding_add(out, records.len);
	}
	return r < 0 ? r : block_add(out, types[entry->kind], entry);
}
