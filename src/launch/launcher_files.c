#include "launch/launcher_files.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A static program of about 1 MiB; with sanitizers a few more. */
#define INIT_SIZE_MAX (64u * 1024 * 1024)

static int init_path(char *path, size_t size)
{
	char self[PATH_MAX];
	char *slash;
	ssize_t n;

	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return -errno;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return str_format(path, size, "%s/cloche-init", self);
}

int launcher_files_open(struct launcher_files *ret_files, char *text, size_t size)
{
	AUTO_BUF struct buf program = BUF_INIT(INIT_SIZE_MAX);
	char path[PATH_MAX];
	int r;

	r = init_path(path, sizeof(path));
	if (r == 0)
		r = buf_add_file(&program, AT_FDCWD, path);
	if (r < 0) {
		(void)str_format(text, size, "cloche-init is not beside cloche-jaild: build again");
		return r;
	}
	return fd_memfd_sealed("cloche-init", program.data, program.len, &ret_files->init_fd);
}
