#include "jail/outside/home.h"

#include "base/fd.h"
#include "base/str.h"
#include "jail/outside/tmpfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Cloning a mount that is attached nowhere works only since Linux 6.15, hence the folder of homes.
 */

static void name_format(char *name, size_t size, uint32_t number)
{
	(void)str_format(name, size, "%" PRIu32, number);
}

int home_make(int parent_fd, uint32_t number, unsigned owner, const struct wire_limits *limits,
	struct home *ret_home)
{
	struct tmpfs_options options = { .size_bytes = limits->home_bytes,
		.inodes = limits->home_inodes,
		.owner = owner,
		.mode = "0700" };
	AUTO_CLOSE int mount_fd = -1;
	char name[16];
	int r;

	r = tmpfs_make(&options, &mount_fd);
	if (r < 0)
		return r;
	name_format(name, sizeof(name), number);
	if (mkdirat(parent_fd, name, 0700) < 0)
		return -errno;
	if (move_mount(mount_fd, "", parent_fd, name, MOVE_MOUNT_F_EMPTY_PATH) < 0) {
		r = -errno;
		(void)unlinkat(parent_fd, name, AT_REMOVEDIR);
		return r;
	}
	*ret_home =
		(struct home){ .fd = TAKE_FD(mount_fd), .parent_fd = parent_fd, .number = number };
	return 0;
}

int home_clone(const struct home *home, int *ret_fd)
{
	int fd = open_tree(home->fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

int home_used(const struct home *home, uint64_t *ret_bytes)
{
	struct statfs status;

	if (fstatfs(home->fd, &status) < 0)
		return -errno;
	*ret_bytes = (status.f_blocks - status.f_bfree) * (uint64_t)status.f_bsize;
	return 0;
}

/* umount2 takes a path only: we go to the folder of homes for a moment. jaild's working directory
 * means nothing otherwise. */
void home_close(struct home *home)
{
	char name[16];

	if (home->fd < 0)
		return;
	home->fd = fd_close(home->fd);
	name_format(name, sizeof(name), home->number);
	if (fchdir(home->parent_fd) < 0)
		return;
	(void)umount2(name, MNT_DETACH | UMOUNT_NOFOLLOW);
	(void)unlinkat(home->parent_fd, name, AT_REMOVEDIR);
}
