#pragma once

#include "tar/tar.h"

struct buf;

/* Appends the head of an entry, a pax one before it where ustar cannot say all. Its size_bytes
 * bytes and tar_padding(size_bytes) zeros have to follow. Returns 0 or -ENOBUFS. */
int tar_write_head(const struct tar_entry *entry, struct buf *out);

/* Zeros behind so many bytes, and how many bytes of zeros end an archive. */
uint64_t tar_padding(uint64_t size_bytes);
#define TAR_END_SIZE (2 * TAR_BLOCK)

/* Bytes of a head at most. */
#define TAR_HEAD_MAX (2 * TAR_NAME_MAX + 8 * TAR_BLOCK)
