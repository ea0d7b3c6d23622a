/*
 * Theory of operation: thin wrappers that turn errno into a return value and loop where the kernel
 * may do a part. Nothing allocates. fd_close keeps errno because it runs as a cleanup between a
 * failed call and the line that reads its errno.
 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int fd_close(int fd)
{
	int saved = errno;

	/* Not retried on EINTR: Linux has closed it all the same, close(2). */
	if (fd >= 0)
		(void)close(fd);
	errno = saved;
	return -1;
}

void fd_cleanup(const int *at)
{
	(void)fd_close(*at);
}

ssize_t fd_read_full(int fd, void *data, size_t size)
{
	char *to = data;
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, to + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int fd_write_full(int fd, const void *data, size_t size)
{
	const char *from = data;

	while (size > 0) {
		ssize_t n = write(fd, from, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from += n;
		size -= (size_t)n;
	}
	return 0;
}

int fd_set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

int fd_dup_above(int fd, int min)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, min);

	return copy < 0 ? -errno : copy;
}

int fd_memfd_sealed(const char *name, const void *data, size_t size, int *ret_fd)
{
	AUTO_CLOSE int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (fd < 0)
		return -errno;
	r = fd_write_full(fd, data, size);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0 || fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

bool fd_is_sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

ssize_t fd_read_file(int dirfd, const char *path, char *buf, size_t cap)
{
	AUTO_CLOSE int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	if (cap == 0)
		return -EFBIG;
	if (fd < 0)
		return -errno;
	n = fd_read_full(fd, buf, cap);
	if (n < 0)
		return n;
	if ((size_t)n == cap)
		return -EFBIG;
	buf[n] = '\0';
	return n;
}

int fd_write_file(int dirfd, const char *path, const char *text)
{
	AUTO_CLOSE int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	size_t size = strlen(text);
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = write(fd, text, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EIO;
}

int fd_standard_fill(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* those below are open, so the lowest free number is this one */
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
			return -errno;
	}
	return 0;
}
