#include "jail/inside/mounts.h"

#include "base/fd.h"
#include "base/str.h"
#include "jail/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The template (jail/outside/template.c) already is the root: read-only, without the host's mounts.
 * A cell only adds what is its own. The mounts made here belong to the cell's user namespace, so
 * a script could change them only with capabilities that it does not have.
 */

/* Everything that CELL_RUN holds is one script and its folder entry. */
#define RUN_SIZE "size=512k,nr_inodes=8,mode=0755"

static int attach(int mount_fd, const char *path)
{
	if (move_mount(mount_fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}

int mounts_attach_home(int home_fd)
{
	return attach(home_fd, CELL_HOME);
}

int mounts_attach_proc(int proc_fd)
{
	return attach(proc_fd, CELL_PROC);
}

static int tmpfs_mount(const char *path, uint64_t size_bytes, uint64_t inodes)
{
	char options[96];
	int r;

	r = str_format(options, sizeof(options), "size=%" PRIu64 ",nr_inodes=%" PRIu64 ",mode=1777",
		size_bytes, inodes);
	if (r < 0)
		return r;
	if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return -errno;
	return 0;
}

int mounts_make_tmpfs(const struct wire_limits *limits)
{
	int r;

	r = tmpfs_mount(CELL_TMP, limits->tmp_bytes, limits->tmp_inodes);
	if (r < 0)
		return r;
	r = tmpfs_mount(CELL_SHM, limits->shm_bytes, limits->tmp_inodes);
	if (r < 0)
		return r;
	if (mount("tmpfs", CELL_RUN, "tmpfs", MS_NOSUID | MS_NODEV, RUN_SIZE) < 0)
		return -errno;
	return 0;
}

int mounts_write_code(const char *path, const void *code, unsigned long size)
{
	AUTO_CLOSE int fd = -1;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0444) < 0)
		return -errno;
	return fd_write_full(fd, code, size);
}

int mounts_seal_code(void)
{
	if (mount(NULL, CELL_RUN, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV,
		    NULL) < 0)
		return -errno;
	return 0;
}
