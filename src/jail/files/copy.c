/*
 * Theory of operation: three ways to move a chunk, tried from the best to the plainest. A way that
 * the two files do not support says so at once, before it moved a byte, and is not tried again.
 * copy_file_range returns 0 for some pseudo files that do have bytes (its man page, BUGS), so the
 * end of file is believed from read(2) only.
 */
#include "jail/files/copy.h"

#include "base/fd.h"
#include "base/macro.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes: long enough to cost nothing, short enough for a signal; and half a frame of the stack. */
#define CHUNK_KERNEL (1u << 20)
#define CHUNK_USER   8192

enum way {
	WAY_RANGE,
	WAY_SENDFILE,
	WAY_READ
};

static bool is_unsupported(int error)
{
	return error == EXDEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP ||
	       error == EBADF || error == EPERM;
}

static ssize_t chunk_by_read(int from, int to, size_t max)
{
	char chunk[CHUNK_USER];
	ssize_t n;
	int r;

	do
		n = read(from, chunk, MIN(sizeof(chunk), max));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	r = fd_write_full(to, chunk, (size_t)n);
	return r < 0 ? r : n;
}

/* Moves one chunk of at most max bytes, going on to a plainer way where this one does not work. */
static ssize_t chunk_move(int from, int to, size_t max, enum way *way)
{
	size_t size = MIN((size_t)CHUNK_KERNEL, max);

	while (*way != WAY_READ) {
		ssize_t n = *way == WAY_RANGE ? copy_file_range(from, NULL, to, NULL, size, 0)
					      : sendfile(to, from, NULL, size);

		if (n > 0)
			return n;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !is_unsupported(errno))
			return -errno;
		*way = *way == WAY_RANGE && n < 0 ? WAY_SENDFILE : WAY_READ;
	}
	return chunk_by_read(from, to, max);
}

int copy_all(int from, int to, uint64_t max, uint64_t *ret_bytes)
{
	enum way way = WAY_RANGE;
	uint64_t bytes = 0;

	for (;;) {
		ssize_t n = chunk_move(from, to, CHUNK_KERNEL, &way);

		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		bytes += (uint64_t)n;
		if (bytes > max)
			return -EFBIG;
	}
	*ret_bytes = bytes;
	return 0;
}

/* Moves the data from offset on, length bytes of it. */
static int segment_move(int from, int to, off_t offset, off_t length)
{
	enum way way = WAY_RANGE;

	if (lseek(from, offset, SEEK_SET) < 0 || lseek(to, offset, SEEK_SET) < 0)
		return -errno;
	while (length > 0) {
		ssize_t n = chunk_move(from, to, (size_t)length, &way);

		if (n < 0)
			return (int)n;
		if (n == 0)
			break; /* cut short meanwhile */
		length -= n;
	}
	return 0;
}

int copy_sparse(int from, int to, uint64_t max, uint64_t *ret_bytes, uint64_t *ret_size)
{
	struct stat status;
	uint64_t bytes = 0;
	off_t data, hole = 0;

	if (fstat(from, &status) < 0)
		return -errno;
	/* ENXIO: no more data behind here */
	while ((data = lseek(from, hole, SEEK_DATA)) >= 0) {
		int r;

		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0)
			return -errno;
		bytes += (uint64_t)(hole - data);
		if (bytes > max)
			return -EFBIG;
		r = segment_move(from, to, data, hole - data);
		if (r < 0)
			return r;
	}
	if (errno != ENXIO)
		return -errno;
	if (ftruncate(to, status.st_size) < 0)
		return -errno;
	*ret_bytes = bytes;
	*ret_size = (uint64_t)status.st_size;
	return 0;
}
