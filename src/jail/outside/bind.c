#include "jail/outside/bind.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * mount_setattr(2) with AT_RECURSIVE reaches every sub-mount, which a remount does not. The copy is
 * private: nothing that is mounted on the host later shows up in it.
 */

static int bind_with(
	int source_fd, const char *name, int root_fd, const char *target, uint64_t attributes)
{
	struct mount_attr attr = { .attr_set = attributes, .propagation = MS_PRIVATE };
	AUTO_CLOSE int tree_fd = -1;

	tree_fd = open_tree(source_fd, name,
		OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW |
			AT_EMPTY_PATH);
	if (tree_fd < 0)
		return -errno;
	if (mount_setattr(tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return -errno;
	if (move_mount(tree_fd, "", root_fd, target, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}

int bind_read_only(int source_fd, const char *name, int root_fd, const char *target)
{
	return bind_with(source_fd, name, root_fd, target,
		MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

int bind_device(int source_fd, const char *name, int root_fd, const char *target)
{
	return bind_with(source_fd, name, root_fd, target,
		MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
}

int bind_pivot(int root_fd)
{
	if (fchdir(root_fd) < 0)
		return -errno;
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return -errno;
	if (umount2(".", MNT_DETACH) < 0)
		return -errno;
	return chdir("/") < 0 ? -errno : 0;
}
