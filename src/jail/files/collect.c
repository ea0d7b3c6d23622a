/*
 * Theory of operation: the path was chosen by the script, so the host's folders are entered one
 * component at a time, each opened beneath the one before without following links (base/beneath.h),
 * and made when missing. The content goes to an unnamed file (O_TMPFILE), which linkat(2) then
 * gives its name; linkat fails where the name is taken, so nothing is overwritten even in a race,
 * and the next number is tried. Some file systems have no O_TMPFILE: there the name is made first
 * with O_EXCL, and removed again if the copy fails.
 *
 * The script's permission bits are not taken over: 0644, or 0755 for a program, and the umask.
 */
#include "jail/files/collect.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "jail/files/copy.h"
#include "jail/files/numbered.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Folders that version control runs commands out of, as soon as somebody looks: a shell's prompt is
 * enough. */
static bool is_repository(const char *name)
{
	static const char *const names[] = { ".git", ".hg", ".bzr", ".svn", ".jj", "git~1" };
	size_t n = strcspn(name, ". ") == 0 ? strlen(name) : 0;

	/* some file systems drop dots and blanks at the end */
	while (n > 1 && (name[n - 1] == '.' || name[n - 1] == ' '))
		n--;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(name, names[i]) == 0 ||
			(n == strlen(names[i]) && strncasecmp(name, names[i], n) == 0))
			return true;
	}
	return false;
}

/* A component of the path as a C string; COLLECT_REFUSED for one that must not come out. */
static int component_check(struct str part, char name[NAME_MAX + 1])
{
	int r = beneath_component(part, name);

	return r == 0 && is_repository(name) ? COLLECT_REFUSED : r;
}

/* HEAD beside objects/ and refs/ makes any folder a repository for git; under another name it is a
 * file like others. */
static bool is_head(const char *name)
{
	return strcasecmp(name, "HEAD") == 0;
}

/* Enters a folder, making it when it is missing; with the umask, as mkdir would. */
static int folder_enter(int dirfd, const char *name)
{
	int fd = beneath_open(dirfd, name, O_PATH | O_DIRECTORY, 0);

	if (fd != -ENOENT)
		return fd;
	if (mkdirat(dirfd, name, 0777) < 0 && errno != EEXIST)
		return -errno;
	return beneath_open(dirfd, name, O_PATH | O_DIRECTORY, 0);
}

/* The folder for the last component, which goes to ret_name. */
static int parent_enter(int out_fd, struct str path, char ret_name[NAME_MAX + 1], int *ret_fd)
{
	AUTO_CLOSE int fd = fd_dup_above(out_fd, 0);
	struct str part = path;
	int r;

	while (fd >= 0 && str_split_once(path, '/', &part, &path)) {
		int next;

		r = component_check(part, ret_name);
		if (r != 0)
			return r;
		next = folder_enter(fd, ret_name);
		(void)fd_close(fd);
		fd = next;
	}
	if (fd < 0)
		return fd;
	r = component_check(part, ret_name);
	if (r == 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

static bool has_no_tmpfile(int error)
{
	return error == -EOPNOTSUPP || error == -EISDIR || error == -EINVAL;
}

/* Gives the unnamed file the name. */
static int name_link(int fd, int dirfd, const char *name)
{
	char self[32];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, dirfd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* Calls linkat, or open with O_EXCL when fd is -1, until a number is free. Returns a descriptor of
 * the named file (fd itself in the first case) or -errno. */
static int name_take(int fd, int dirfd, mode_t mode, char name[NAME_MAX + 1])
{
	char wanted[NAME_MAX + 1];

	memcpy(wanted, name, NAME_MAX + 1);
	for (unsigned n = is_head(name) ? 2 : 1; n <= NUMBERED_MAX; n++) {
		int r;

		numbered_name(wanted, n, name);
		r = fd >= 0 ? name_link(fd, dirfd, name)
			    : beneath_open(dirfd, name, O_WRONLY | O_CREAT | O_EXCL, mode);
		if (r >= 0)
			return fd >= 0 ? fd : r;
		if (r != -EEXIST)
			return r;
	}
	return -EEXIST;
}

/* Fills and names the file in its folder. */
static int file_place(int dirfd, const struct collect_request *request, char name[NAME_MAX + 1],
	struct collected *done)
{
	mode_t mode = request->mode & 0111 ? 0755 : 0644;
	AUTO_CLOSE int fd = beneath_open(dirfd, ".", O_WRONLY | O_TMPFILE, mode);
	bool is_named = has_no_tmpfile(fd);
	int r;

	if (is_named)
		fd = name_take(-1, dirfd, mode, name);
	if (fd < 0)
		return fd;
	r = copy_sparse(
		request->from_fd, fd, request->max_bytes, &done->data_bytes, &done->size_bytes);
	if (r == 0 && !is_named) {
		r = name_take(fd, dirfd, mode, name);
		return r < 0 ? r : 0;
	}
	if (r < 0 && is_named)
		(void)unlinkat(dirfd, name, 0);
	return r;
}

/* The path below the folder: the script's folders and the name that was free. */
static int path_make(struct str path, const char *name, char *ret_path, size_t size)
{
	const char *slash = memrchr(path.p, '/', path.n);
	size_t folders = slash ? (size_t)(slash - path.p) + 1 : 0;

	return str_format(ret_path, size, "%.*s%s", (int)folders, path.p, name);
}

int collect_file(const struct collect_request *request, struct collected *ret_collected)
{
	char name[NAME_MAX + 1] = "", head[MIME_HEAD_SIZE];
	struct collected done = { .size_bytes = 0 };
	AUTO_CLOSE int dirfd = -1;
	ssize_t n;
	int r;

	if (request->path.n == 0 || request->path.n >= sizeof(done.path) - NAME_MAX)
		return -ENAMETOOLONG;
	r = parent_enter(request->out_fd, request->path, name, &dirfd);
	if (r != 0)
		return r;
	n = pread(request->from_fd, head, sizeof(head), 0);
	if (n < 0)
		return -errno;
	done.mime = mime_guess(request->path, (struct str){ .p = head, .n = (size_t)n });
	r = file_place(dirfd, request, name, &done);
	if (r < 0)
		return r;
	r = path_make(request->path, name, done.path, sizeof(done.path));
	if (r < 0)
		return -ENAMETOOLONG;
	*ret_collected = done;
	return 0;
}
