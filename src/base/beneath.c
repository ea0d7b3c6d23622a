/*
 * Theory of operation: the kernel walks the path with openat2(2) and refuses every way out of the
 * held folder, whatever a script renames meanwhile; we never look first and open later. Folders are
 * made one component at a time, each opened under the one before, so that the owner is set on the
 * folder that was opened and not on a name. If a script swaps a folder of its own in between mkdir
 * and open, it is given what it owns already.
 *
 * Only a folder that this call made is chowned. O_PATH descriptors are enough for *at calls and for
 * fchownat with AT_EMPTY_PATH, and need no read permission.
 */
#include "base/beneath.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_resolved(int dirfd, const char *path, struct open_how how)
{
	long fd;

	how.flags |= O_CLOEXEC | (how.flags & O_PATH ? 0 : O_NOCTTY);

	if (path[0] == '\0')
		return -EINVAL;
	if (strnlen(path, BENEATH_PATH_MAX) == BENEATH_PATH_MAX)
		return -ENAMETOOLONG;
	/* EAGAIN: a rename elsewhere made a ".." uncertain; openat2(2) says to try again. */
	for (int tries = 0; tries < 8; tries++) {
		fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

int beneath_open(int dirfd, const char *path, int flags, mode_t mode)
{
	return open_resolved(dirfd, path,
		(struct open_how){
			.flags = (unsigned)flags,
			.mode = (flags & (O_CREAT | __O_TMPFILE)) ? mode : 0,
			.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
				   RESOLVE_NO_XDEV,
		});
}

int beneath_open_as_root(int dirfd, const char *path, int flags)
{
	return open_resolved(dirfd, path,
		(struct open_how){ .flags = (unsigned)flags,
			.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS });
}

int beneath_open_regular(int dirfd, const char *path, int *ret_fd)
{
	AUTO_CLOSE int fd = beneath_open(dirfd, path, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* Opens folder `name` under dirfd, making it if it is missing and make is given. */
static int open_folder(int dirfd, const char *name, const struct beneath_owner *make)
{
	int flags = O_PATH | O_DIRECTORY;
	bool is_ours = false;
	AUTO_CLOSE int fd = beneath_open(dirfd, name, flags, 0);

	if (fd == -ENOENT && make) {
		is_ours = mkdirat(dirfd, name, 0700) == 0;
		if (!is_ours && errno != EEXIST)
			return -errno;
		fd = beneath_open(dirfd, name, flags, 0);
	}
	if (fd < 0)
		return fd;
	if (is_ours && fchownat(fd, "", make->uid, make->gid, AT_EMPTY_PATH) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int beneath_component(struct str part, char ret_name[NAME_MAX + 1])
{
	if (part.n == 0 || str_eq(part, STR(".")) || str_eq(part, STR("..")))
		return -EINVAL;
	if (part.n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(ret_name, part.p, part.n);
	ret_name[part.n] = '\0';
	return 0;
}

int beneath_open_parent(int dirfd, const char *path, const struct beneath_owner *make,
	char ret_name[NAME_MAX + 1], int *ret_fd)
{
	AUTO_CLOSE int fd = fd_dup_above(dirfd, 0);
	struct str part, rest = str_from(path);
	char name[NAME_MAX + 1];

	if (fd < 0)
		return fd;
	if (rest.n >= BENEATH_PATH_MAX)
		return -ENAMETOOLONG;
	while (str_split_once(rest, '/', &part, &rest)) {
		int next;
		int r = beneath_component(part, name);

		if (r < 0)
			return r;
		next = open_folder(fd, name, make);
		if (next < 0)
			return next;
		(void)fd_close(fd);
		fd = next;
	}
	int r = beneath_component(part, ret_name);
	if (r < 0)
		return r;
	*ret_fd = TAKE_FD(fd);
	return 0;
}
