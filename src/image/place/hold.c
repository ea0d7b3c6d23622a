/*
 * Theory of operation: the lock belongs to the folder itself, not to its name. So whoever has got
 * it looks whether that folder still has the name: between opening and locking it may have been
 * replaced.
 */
#include "image/place/hold.h"

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

static int lock_take(const char *path, int operation)
{
	for (int i = 0; i < TRIES; i++) {
		AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0)
			return -errno;
		if (flock(fd, operation) < 0)
			return errno == EWOULDBLOCK ? -EBUSY : -errno;
		if (is_still(fd, path))
			return TAKE_FD(fd);
	}
	return -EBUSY;
}

int image_hold(const char *path)
{
	return image_is(path) ? lock_take(path, LOCK_SH | LOCK_NB) : -ENOENT;
}

int image_claim(const char *path, enum image_claim_how how)
{
	return lock_take(path, how == IMAGE_CLAIM_WAIT ? LOCK_EX : LOCK_EX | LOCK_NB);
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
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	struct stat st;
	unsigned n = 0;

	while (locks && stat(path, &st) == 0 && n < USERS_SHOWN &&
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
}
