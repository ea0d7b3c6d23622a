#pragma once

#include "base/buf.h"
#include "tar/tar.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads an archive as its bytes come, at constant memory: ustar, pax and the long names of GNU tar.
 * Devices and other things that are no file, folder or link are passed over and counted. Paths are
 * told as they are but for "./" before and slashes behind: what they may be is for the sink.
 */

/* Who is told. Embedded in its owner (container_of). Each returns 0, or below 0 to end the reading,
 * which tar_reader_feed returns. Slices live until the function returns. */
struct tar_sink {
	int (*on_entry)(struct tar_sink *sink, const struct tar_entry *entry);
	int (*on_data)(struct tar_sink *sink, struct str bytes); /* of the last entry, a file */
	int (*on_end)(struct tar_sink *sink);			 /* of the last entry, a file */
};

struct tar_reader {
	struct tar_sink *sink;
	char block[TAR_BLOCK];
	size_t n;		/* in block */
	uint64_t left, padding; /* bytes of what follows the last head */
	enum tar_part {
		TAR_PART_HEAD,
		TAR_PART_DATA,	/* of a file: told */
		TAR_PART_WORDS, /* of a pax head or a long name: held */
		TAR_PART_SKIP,
	} part;
	char type; /* of the last head */
	struct buf words;
	struct buf path, target; /* that a head before the entry's own has said */
	bool has_mtime, has_size;
	int64_t mtime_ns;
	uint64_t size_bytes;
	unsigned zeros; /* blocks of zeros in a row; two are the end */
	uint64_t skipped;
};

/* Begins; end it with tar_reader_fini. */
void tar_reader_init(struct tar_reader *reader, struct tar_sink *sink);
void tar_reader_fini(struct tar_reader *reader);

/* The next bytes. Returns 0, -EBADMSG for what is no tar, -EOPNOTSUPP for a sparse file in a form
 * that is not read, -ENAMETOOLONG, or what the sink returned. */
int tar_reader_feed(struct tar_reader *reader, const void *data, size_t size);

/* No more bytes come. Returns 0, or -EBADMSG when an entry or the end is missing. */
int tar_reader_end(const struct tar_reader *reader);
