#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * File descriptors: -1 is none, and every one is O_CLOEXEC from birth. Nothing here allocates, so
 * that cloche-init may link it.
 */

/* Closes a local when it goes out of scope: `AUTO_CLOSE int fd = -1;`. */
#define AUTO_CLOSE __attribute__((cleanup(fd_cleanup)))

/* The value of descriptor fd, which becomes -1: hands ownership on past AUTO_CLOSE. */
#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int *take_at_ = &(fd);                                                             \
		int take_value_ = *take_at_;                                                       \
		*take_at_ = -1;                                                                    \
		take_value_;                                                                       \
	})

/* Closes fd (-1 is fine), keeps errno, returns -1: `fd = fd_close(fd);`. close(2) */
int fd_close(int fd);

/* Reads until size bytes are there or the end; EINTR is retried. Returns the bytes read, less than
 * size only at the end of file, or -errno (-EAGAIN on a non-blocking fd, bytes so far are lost). */
ssize_t fd_read_full(int fd, void *data, size_t size);

/* Writes all size bytes; EINTR is retried. Returns 0 or -errno (some bytes may be written). */
int fd_write_full(int fd, const void *data, size_t size);

/* Sets O_NONBLOCK. Returns 0 or -errno. fcntl(2) */
int fd_set_nonblocking(int fd);

/* A close-on-exec duplicate numbered min or higher, or -errno. The caller closes both. fcntl(2) */
int fd_dup_above(int fd, int min);

/* Makes a memfd that holds size bytes of data and can never change again (all four seals, no more
 * seals), read position 0. The caller closes *ret_fd. Returns 0 or -errno. memfd_create(2) */
int fd_memfd_sealed(const char *name, const void *data, size_t size, int *ret_fd);

/* True if fd is a memfd that can neither shrink, grow, be written nor lose these seals. */
bool fd_is_sealed(int fd);

/* Reads a small pseudo file (procfs, cgroup) whole and ends it with NUL; path is relative to dirfd
 * (AT_FDCWD allowed). Returns the length, -EFBIG if it does not fit in cap - 1 bytes, or -errno. */
ssize_t fd_read_file(int dirfd, const char *path, char *buf, size_t cap);

/* Writes text to an existing pseudo file in one write(2), as the kernel asks for there.
 * Returns 0, -EIO if it was taken only in part, or -errno. Never creates. */
int fd_write_file(int dirfd, const char *path, const char *text);

/* Opens /dev/null (not close-on-exec) for each of stdin, stdout and stderr that is missing: else
 * the next descriptor would take its number, and what is printed would go there. Call it first in
 * main. Returns 0 or -errno. */
int fd_standard_fill(void);

/* For AUTO_CLOSE: closes the descriptor that lies at `at`. */
void fd_cleanup(const int *at);
