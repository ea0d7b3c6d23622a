/*
 * Theory of operation: the folder and what is in it belong to the user that the supervisor goes on
 * as, who sees nothing else of the state directory: it is handed the folder's descriptor. The
 * secret stays ours and is handed over as bytes. Whoever takes the folder without the secret has
 * nothing to read; whoever loses the secret has lost the sessions.
 */
#include "cli/up_state.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "crypt/key.h"
#include "launch/id_range.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUPERVISOR_USER "cloche"
/* Without such a user: the first id above those that jaild takes for root (launch/id_range.h). */
#define SUPERVISOR_ID 1879113728u
/* A host with thousands of users has some 100 KiB. */
#define SUBID_FILE_MAX (4u * 1024 * 1024)
/* Descriptors that a child inherits are numbered from here on (jail/client/program.h). */
#define FDS_ABOVE 16

/* Somebody's container would run as the supervisor's user: it could signal it and read the store.
 */
static int id_check(const char *path, struct fault *ret_fault)
{
	AUTO_BUF struct buf text = BUF_INIT(SUBID_FILE_MAX);
	int r = buf_add_file(&text, AT_FDCWD, path);

	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		fault_set(ret_fault, FAULT_BAD_REQUEST, "%s: %s", path, strerror(-r));
		return r;
	}
	if (!id_range_overlaps(buf_get_slice(&text), SUPERVISOR_ID, 1))
		return 0;
	fault_set(ret_fault, FAULT_BAD_REQUEST,
		"%s gives the id %u, which the supervisor would have, to somebody: make a user "
		"for it (useradd --system cloche), or shorten that line",
		path, SUPERVISOR_ID);
	return -EADDRINUSE;
}

int up_user_find(struct up_user *ret_user, struct fault *ret_fault)
{
	const struct passwd *user = geteuid() == 0 ? getpwnam(SUPERVISOR_USER) : NULL;
	int r;

	if (geteuid() != 0) {
		*ret_user = (struct up_user){ .uid = geteuid(), .gid = getegid() };
		return 0;
	}
	if (user && user->pw_uid != 0) {
		*ret_user = (struct up_user){ .uid = user->pw_uid, .gid = user->pw_gid };
		return 0;
	}
	r = id_check("/etc/subuid", ret_fault);
	if (r == 0)
		r = id_check("/etc/subgid", ret_fault);
	if (r == 0)
		*ret_user = (struct up_user){ .uid = SUPERVISOR_ID, .gid = SUPERVISOR_ID };
	return r;
}

/* Files that another user's supervisor wrote: the user cloche may have come or gone. */
static int files_own(int store_fd, const struct up_user *user)
{
	int fd = openat(store_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		r = -errno;
		(void)fd_close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(dir)))
		if (entry->d_type == DT_REG && fchownat(store_fd, entry->d_name, user->uid,
						       user->gid, AT_SYMLINK_NOFOLLOW) < 0)
			r = -errno;
	(void)closedir(dir);
	return r;
}

static int folder_open(int dir_fd, const struct up_user *user, int *ret_fd)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;

	if (mkdirat(dir_fd, "store", 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir_fd, "store", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || fchmod(fd, 0700) < 0)
		return -errno;
	if (st.st_uid != user->uid || st.st_gid != user->gid) {
		int r = files_own(fd, user);

		if (r < 0)
			return r;
		if (fchown(fd, user->uid, user->gid) < 0)
			return -errno;
	}
	*ret_fd = fd_dup_above(fd, FDS_ABOVE);
	return *ret_fd < 0 ? *ret_fd : 0;
}

/* Written whole under another name and renamed: it is there whole, or not at all. */
static int secret_write(int dir_fd)
{
	AUTO_CLOSE int fd = -1;
	struct key key;
	int r;

	if (unlinkat(dir_fd, "secret.key.new", 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dir_fd, "secret.key.new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	key_random(key.bytes, sizeof(key.bytes));
	r = fd_write_full(fd, key.bytes, sizeof(key.bytes));
	key_wipe(&key);
	if (r == 0 &&
		(fsync(fd) < 0 || renameat(dir_fd, "secret.key.new", dir_fd, "secret.key") < 0 ||
			fsync(dir_fd) < 0))
		r = -errno;
	return r;
}

static int secret_open(int dir_fd, int *ret_fd)
{
	AUTO_CLOSE int fd = -1;
	AUTO_CLOSE int sealed_fd = -1;
	char bytes[KEY_SIZE + 1];
	ssize_t n;
	int r = 0;

	fd = openat(dir_fd, "secret.key", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		r = secret_write(dir_fd);
		if (r < 0)
			return r;
		fd = openat(dir_fd, "secret.key", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0 || fchmod(fd, 0600) < 0)
		return -errno;
	n = fd_read_full(fd, bytes, sizeof(bytes));
	if (n == KEY_SIZE)
		r = fd_memfd_sealed("secret", bytes, KEY_SIZE, &sealed_fd);
	else
		r = n < 0 ? (int)n : -EINVAL;
	explicit_bzero(bytes, sizeof(bytes));
	if (r < 0)
		return r;
	*ret_fd = fd_dup_above(sealed_fd, FDS_ABOVE);
	return *ret_fd < 0 ? *ret_fd : 0;
}

int up_store_open(struct up_state *state, struct fault *ret_fault)
{
	int r = up_user_find(&state->user, ret_fault);

	if (r < 0)
		return r;
	r = folder_open(state->dir_fd, &state->user, &state->store_fd);
	if (r < 0) {
		fault_set(ret_fault, FAULT_BAD_REQUEST, "store: %s", strerror(-r));
		return r;
	}
	r = secret_open(state->dir_fd, &state->secret_fd);
	if (r == -EINVAL)
		fault_set(ret_fault, FAULT_BAD_REQUEST,
			"secret.key: must be the %d bytes that were made for this directory",
			KEY_SIZE);
	else if (r < 0)
		fault_set(ret_fault, FAULT_BAD_REQUEST, "secret.key: %s", strerror(-r));
	return r;
}
