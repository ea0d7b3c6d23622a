/*
 * Theory of operation: the lock is on the image's manifest. It is an open-file-description lock
 * (fcntl(2)), because of these the exclusive one needs a descriptor for writing: flock(2) would let
 * any user who can read the image keep all others from it. A share needs but to read. Such locks
 * tell no process, so each user also has a flock on the same descriptor, by which /proc/locks names
 * him; nobody asks whether he got that one.
 *
 * The lock belongs to the file itself, not to its name. So whoever has got it looks whether that
 * file still has the name: between opening and locking the image may have been replaced.
 */
#include "image/place/hold.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/utf8.h"
#include "image/place/place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define TRIES	    3 /* a name that changes more often than that is not in use by people */
#define USERS_SHOWN 8

static bool is_still(int fd, const char *path)
{
	struct stat here, there;

	return fstat(fd, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

static int manifest_open(const char *path, int mode)
{
	AUTO_CLOSE int fd = open(path, mode | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? -ENOENT : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? TAKE_FD(fd) : -ENOENT;
}

static int lock_take(const char *image, int mode, int command)
{
	struct flock lock = { .l_type = mode == O_RDONLY ? F_RDLCK : F_WRLCK };
	char path[PATH_MAX];

	if (str_format(path, sizeof(path), "%s" IMAGE_MANIFEST, image) < 0)
		return -ENAMETOOLONG;
	for (int i = 0; i < TRIES; i++) {
		AUTO_CLOSE int fd = manifest_open(path, mode);

		if (fd < 0)
			return fd;
		if (fcntl(fd, command, &lock) < 0)
			return errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
		if (is_still(fd, path))
			return TAKE_FD(fd);
	}
	return -EBUSY;
}

int image_hold(const char *path)
{
	int fd = lock_take(path, O_RDONLY, F_OFD_SETLK);

	if (fd >= 0)
		(void)flock(fd, LOCK_SH | LOCK_NB);
	return fd;
}

int image_claim(const char *path, enum image_claim_how how)
{
	return lock_take(path, O_RDWR, how == IMAGE_CLAIM_WAIT ? F_OFD_SETLKW : F_OFD_SETLK);
}

static void user_add(unsigned pid, unsigned n, struct buf *out)
{
	AUTO_BUF struct buf name = BUF_INIT(64);
	char path[32];

	(void)str_format(path, sizeof(path), "/proc/%u/comm", pid);
	(void)buf_add_file(&name, AT_FDCWD, path);
	(void)buf_addf(out, "%sprocess %u", n > 0 ? ", " : "", pid);
	if (name.len > 1) {
		name.data[name.len - 1] = '\0'; /* its newline */
		utf8_clean(name.data);
		(void)buf_addf(out, " (%s)", name.data);
	}
}

void image_users_add(const char *path, struct buf *out)
{
	AUTO_FREE char *manifest = xasprintf("%s" IMAGE_MANIFEST, path);
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	struct stat st;
	unsigned n = 0;

	while (locks && stat(manifest, &st) == 0 && n < USERS_SHOWN &&
		fgets(line, sizeof(line), locks)) {
		unsigned pid, major_number, minor_number;
		uint64_t inode;

		if (sscanf(line, "%*u: FLOCK %*s %*s %u %x:%x:%" SCNu64, &pid, &major_number,
			    &minor_number, &inode) == 4 &&
			inode == st.st_ino && major_number == major(st.st_dev) &&
			minor_number == minor(st.st_dev))
			user_add(pid, n++, out);
	}
	if (locks)
		(void)fclose(locks);
	if (n == 0)
		(void)buf_add_str(out, "by whom cannot be seen from here");
}
