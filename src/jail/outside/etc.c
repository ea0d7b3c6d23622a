#include "jail/outside/etc.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"
#include "jail/outside/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Nothing of the host's /etc is in a cell but the lists below: folders as read-only binds, so that
 * they cost nothing, and small files as copies. The rest is written here. What the source does not
 * have is left out.
 */

/* ld.so.cache of a full desktop is some 200 KiB. */
#define ETC_COPY_MAX (4 * 1024 * 1024)

static const struct {
	const char *name;
	const char *text;
} made_files[] = {
	{ "passwd", "root:x:0:0:root:/:/usr/sbin/nologin\n"
		    "sandbox:x:65534:65534:sandbox:/mnt/data:/bin/bash\n" },
	{ "group", "root:x:0:\nsandbox:x:65534:\n" },
	{ "hosts", "127.0.0.1 localhost cloche\n::1 localhost ip6-localhost\n" },
	{ "hostname", "cloche\n" },
	{ "host.conf", "multi on\n" },
	{ "nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nservices: files\n"
			   "protocols: files\n" },
	{ "shells", "/bin/bash\n/bin/sh\n" },
	{ "timezone", "Etc/UTC\n" },
};

static const char *const bound_folders[] = { "alternatives", "fonts", "ssl/certs", "ImageMagick-6",
	"ImageMagick-7", "libreoffice", "texmf" };

static const char *const copied_files[] = { "ld.so.cache", "mime.types", "services", "protocols",
	"matplotlibrc", "papersize", "magic", "debian_version", "os-release" };

static int file_make(int etc_fd, const char *name, const char *text)
{
	AUTO_CLOSE int fd = -1;

	fd = openat(etc_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (fd < 0)
		return -errno;
	return fd_write_full(fd, text, strlen(text));
}

/* Opens "etc/name" of the source. Its links are its own: what they name is looked for in it. */
static int source_open(int source_fd, const char *name, int flags)
{
	char path[64];
	int r = str_format(path, sizeof(path), "etc/%s", name);

	return r < 0 ? r : beneath_open_as_root(source_fd, path, flags);
}

static int file_copy(int source_fd, int etc_fd, const char *name)
{
	AUTO_CLOSE int from = source_open(source_fd, name, O_RDONLY | O_NONBLOCK);
	AUTO_CLOSE int to = -1;
	struct stat status;
	off_t left;

	if (from < 0 || fstat(from, &status) < 0)
		return 0; /* not there, or not for everybody's eyes: not in the cell either */
	if (!S_ISREG(status.st_mode) || status.st_size > ETC_COPY_MAX)
		return 0;
	to = openat(etc_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (to < 0)
		return -errno;
	for (left = status.st_size; left > 0;) {
		ssize_t n = sendfile(to, from, NULL, (size_t)left);

		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		left -= n;
	}
	return 0;
}

static int folder_bind(int source_fd, int etc_fd, const char *name)
{
	AUTO_CLOSE int from = source_open(source_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
	const char *slash = strchr(name, '/');
	char parent[32];
	int r;

	if (from < 0)
		return 0; /* as above */
	if (slash) {
		r = str_format(parent, sizeof(parent), "%.*s", (int)(slash - name), name);
		if (r < 0)
			return r;
		if (mkdirat(etc_fd, parent, 0755) < 0 && errno != EEXIST)
			return -errno;
	}
	if (mkdirat(etc_fd, name, 0755) < 0)
		return -errno;
	r = bind_read_only(from, "", etc_fd, name);
	return r == -EACCES ? 0 : r;
}

static int etc_fill(int etc_fd, int source_fd)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(made_files) && r == 0; i++)
		r = file_make(etc_fd, made_files[i].name, made_files[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(copied_files) && r == 0; i++)
		r = file_copy(source_fd, etc_fd, copied_files[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bound_folders) && r == 0; i++)
		r = folder_bind(source_fd, etc_fd, bound_folders[i]);
	if (r == 0 && symlinkat("/usr/share/zoneinfo/UTC", etc_fd, "localtime") < 0)
		r = -errno;
	return r;
}

int etc_make(int root_fd, int source_fd)
{
	AUTO_CLOSE int etc_fd = -1;

	if (mkdirat(root_fd, "etc", 0755) < 0)
		return -errno;
	etc_fd = openat(root_fd, "etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (etc_fd < 0)
		return -errno;
	/* an image may have no /etc: then there is only what is made here */
	return etc_fill(etc_fd, source_fd);
}
