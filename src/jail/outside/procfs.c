#include "jail/outside/procfs.h"

#include "base/fd.h"
#include "jail/outside/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A procfs shows the pid namespace of the process that makes it, so a child has to be born in the
 * cell's: fork a helper, it joins by pidfd, forks again, and the grandchild makes the mount and
 * sends its descriptor. It happens in jaild's mount namespace, where a whole /proc is visible; the
 * kernel refuses it anywhere else (mount_too_revealing).
 */

static int procfs_open(bool is_for_cell, int *ret_fd)
{
	AUTO_CLOSE int fs_fd = -1;
	int mount_fd;

	fs_fd = fsopen("proc", FSOPEN_CLOEXEC);
	if (fs_fd < 0)
		return -errno;
	if (is_for_cell && (fsconfig(fs_fd, FSCONFIG_SET_STRING, "hidepid", "2", 0) < 0 ||
				   fsconfig(fs_fd, FSCONFIG_SET_STRING, "subset", "pid", 0) < 0))
		return -errno;
	if (fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	mount_fd = fsmount(fs_fd, FSMOUNT_CLOEXEC,
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC |
			(is_for_cell ? MOUNT_ATTR_RDONLY : 0));
	if (mount_fd < 0)
		return -errno;
	*ret_fd = mount_fd;
	return 0;
}

int procfs_make_own(int *ret_fd)
{
	return procfs_open(false, ret_fd);
}

/* The mount needs no place: it lives as long as the folder is held. */
int procfs_limits_make(int *ret_fd)
{
	AUTO_CLOSE int mount_fd = -1;
	int fd, r;

	r = procfs_open(false, &mount_fd);
	if (r < 0)
		return r;
	fd = openat(mount_fd, "sys/user", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

static void grandchild_make(int socket)
{
	int mount_fd = -1;
	int r = procfs_open(true, &mount_fd);

	errand_tell(socket, r, mount_fd);
	_exit(0);
}

static void helper_enter(int init_pidfd, int socket)
{
	pid_t pid = setns(init_pidfd, CLONE_NEWPID) < 0 ? -1 : fork();

	if (pid == 0)
		grandchild_make(socket);
	if (pid < 0)
		errand_tell(socket, -errno, -1);
	else
		(void)waitpid(pid, NULL, 0);
	_exit(0);
}

int procfs_make(int init_pidfd, int *ret_fd)
{
	struct errand errand;
	int r = errand_start(&errand);

	if (r < 0)
		return r;
	if (errand.pid == 0)
		helper_enter(init_pidfd, errand.socket);
	r = errand_result(&errand, ret_fd);
	errand_end(&errand);
	return r;
}
