#pragma once

#include <stdint.h>

/* Copies from `from` to `to`, from their positions to the end of `from`, at constant memory and
 * inside the kernel where it can: copy_file_range(2), else sendfile(2), else read and write. Both
 * blocking. Returns 0 with *ret_bytes, -EFBIG as soon as more than max bytes are there, or -errno
 * (of a write too: -ENOSPC). */
int copy_all(int from, int to, uint64_t max, uint64_t *ret_bytes);

/* As copy_all for a regular file from its start, and holes stay holes where both file systems know
 * them: a file takes no more room than it did. max bounds the bytes that are moved, *ret_bytes;
 * *ret_size is the length. */
int copy_sparse(int from, int to, uint64_t max, uint64_t *ret_bytes, uint64_t *ret_size);
