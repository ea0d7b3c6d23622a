/*
 * An object is a row of extents, each with its place before its bytes; a last one of no bytes has
 * the file's size as its place. Its key is made of session, path and number, and a number is used
 * once: so an older object of the same file, or that of another one, does not open in its place.
 */
#include "store/object.h"

#include "base/alloc.h"
#include "base/beneath.h"
#include "base/fd.h"
#include "base/macro.h"
#include "extent/extent.h"
#include "store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_SIZE (256u * 1024)

struct extent_head {
	uint64_t offset;
	uint64_t size;
};

/* One copy out of a file. */
struct intake {
	struct sealed_writer writer;
	struct extent_hash *hash;
	char *block;
	int from_fd;
};

static int extent_write(struct intake *intake, const struct extent *extent)
{
	const struct extent_head head = { .offset = extent->offset, .size = extent->size };
	uint64_t at = 0;
	int r = sealed_writer_add(&intake->writer, &head, sizeof(head));

	extent_hash_begin(intake->hash, extent->offset);
	while (r == 0 && at < extent->size) {
		ssize_t n = pread(intake->from_fd, intake->block,
			MIN((uint64_t)BLOCK_SIZE, extent->size - at), (off_t)(extent->offset + at));

		if (n <= 0)
			/* cut meanwhile: what was promised cannot be kept */
			return n < 0 ? -errno : -EAGAIN;
		extent_hash_add(intake->hash, intake->block, (size_t)n);
		r = sealed_writer_add(&intake->writer, intake->block, (size_t)n);
		at += (uint64_t)n;
	}
	return r;
}

static int file_write(struct intake *intake, struct manifest_entry *entry)
{
	struct extent_head end = { 0 };
	struct extent extent;
	uint64_t at = 0;
	struct stat st;
	int r;

	if (fstat(intake->from_fd, &st) < 0)
		return -errno;
	end.offset = entry->size_bytes = (uint64_t)st.st_size;
	while ((r = extent_next(intake->from_fd, at, end.offset, &extent)) > 0) {
		r = extent_write(intake, &extent);
		if (r < 0)
			return r;
		at = extent.offset + extent.size;
	}
	if (r == 0)
		r = sealed_writer_add(&intake->writer, &end, sizeof(end));
	if (r == 0)
		r = sealed_writer_end(&intake->writer);
	extent_hash_end(intake->hash, end.offset, entry->hash);
	entry->stored_bytes = intake->writer.written;
	return r;
}

int object_write(
	struct store *store, const char *name, int from_fd, struct manifest_entry *ret_entry)
{
	struct intake intake = { .from_fd = from_fd };
	char file[FOLDER_NAME_SIZE];
	AUTO_CLOSE int fd = -1;
	struct sealed_name key;
	int r;

	key_random(ret_entry->object, sizeof(ret_entry->object));
	folder_object_name(name, ret_entry, file);
	fd = beneath_open(store->dir_fd, file, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return fd;
	intake.hash = extent_hash_new(store_hash_key(store));
	intake.block = xmalloc(BLOCK_SIZE);
	key = folder_object_key(store, name, ret_entry);
	r = sealed_writer_begin(&intake.writer, fd, &key, &store->budget, false);
	if (r == 0)
		r = file_write(&intake, ret_entry);
	/* So that the disk is at work before the commit waits for it. */
	if (r == 0)
		(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	sealed_writer_fini(&intake.writer);
	extent_hash_free(intake.hash);
	free(intake.block);
	if (r < 0)
		(void)folder_unlink(store, file);
	else
		ret_entry->is_new = true;
	return r;
}

/* Copies one extent. */
static int extent_read(struct sealed_reader *reader, const struct extent_head *head, int to_fd)
{
	uint64_t at = 0;

	while (at < head->size) {
		const void *data = NULL;
		int n = sealed_reader_peek(
			reader, (size_t)MIN(head->size - at, (uint64_t)SEALED_PIECE), &data);
		ssize_t written;

		if (n <= 0)
			return n < 0 ? n : -EBADMSG;
		written = pwrite(to_fd, data, (size_t)n, (off_t)(head->offset + at));
		if (written != n)
			return written < 0 ? -errno : -ENOSPC;
		at += (uint64_t)n;
	}
	return 0;
}

static int file_read(struct sealed_reader *reader, const struct manifest_entry *entry, int to_fd)
{
	struct extent_head head;
	uint64_t end = 0;
	const void *rest;
	int r;

	for (;;) {
		r = sealed_reader_get(reader, &head, sizeof(head));
		if (r < 0)
			return r;
		if (head.size == 0)
			break;
		/* In order and inside: the writer knows no others. */
		if (head.offset < end || head.offset > entry->size_bytes ||
			head.size > entry->size_bytes - head.offset)
			return -EBADMSG;
		end = head.offset + head.size;
		r = extent_read(reader, &head, to_fd);
		if (r < 0)
			return r;
	}
	r = sealed_reader_peek(reader, 1, &rest);
	if (r != 0 || head.offset != entry->size_bytes)
		return r < 0 ? r : -EBADMSG;
	return ftruncate(to_fd, (off_t)entry->size_bytes) < 0 ? -errno : 0;
}

int object_read(
	struct store *store, const char *name, const struct manifest_entry *entry, int to_fd)
{
	struct sealed_name key = folder_object_key(store, name, entry);
	struct sealed_reader reader = { .fd = -1 };
	char file[FOLDER_NAME_SIZE];
	AUTO_CLOSE int fd = -1;
	int r;

	folder_object_name(name, entry, file);
	r = beneath_open_regular(store->dir_fd, file, &fd);
	if (r < 0)
		return -EBADMSG; /* missing, or no regular file */
	r = sealed_reader_begin(&reader, fd, &key);
	if (r == 0)
		r = file_read(&reader, entry, to_fd);
	sealed_reader_fini(&reader);
	return r;
}
