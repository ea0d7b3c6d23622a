#include "jail/outside/tmpfs.h"

#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mount.h>
#include <unistd.h>

/* Numbers travel as text in this API. */

static int option_set(int fs_fd, const char *name, const char *value)
{
	if (fsconfig(fs_fd, FSCONFIG_SET_STRING, name, value, 0) < 0)
		return -errno;
	return 0;
}

static int option_set_number(int fs_fd, const char *name, uint64_t number)
{
	char text[24];
	int r = str_format(text, sizeof(text), "%" PRIu64, number);

	return r < 0 ? r : option_set(fs_fd, name, text);
}

static int options_set(int fs_fd, const struct tmpfs_options *options)
{
	int r = option_set(fs_fd, "mode", options->mode);

	if (r == 0 && options->size_bytes > 0)
		r = option_set_number(fs_fd, "size", options->size_bytes);
	if (r == 0 && options->inodes > 0)
		r = option_set_number(fs_fd, "nr_inodes", options->inodes);
	if (r == 0)
		r = option_set_number(fs_fd, "uid", options->owner);
	if (r == 0)
		r = option_set_number(fs_fd, "gid", options->owner);
	return r;
}

int tmpfs_make(const struct tmpfs_options *options, int *ret_fd)
{
	AUTO_CLOSE int fs_fd = -1;
	int r, mount_fd;

	fs_fd = fsopen("tmpfs", FSOPEN_CLOEXEC);
	if (fs_fd < 0)
		return -errno;
	r = options_set(fs_fd, options);
	if (r < 0)
		return r;
	if (fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	mount_fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (mount_fd < 0)
		return -errno;
	*ret_fd = mount_fd;
	return 0;
}
