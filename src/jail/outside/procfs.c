#include "jail/outside/procfs.h"

#include "base/fd.h"
#include "wire/channel.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/socket.h>
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

/* Sends 0 and the mount, or the errno. */
static void grandchild_make(int socket)
{
	int mount_fd = -1;
	int error = -procfs_open(true, &mount_fd);

	(void)channel_send(socket, &error, sizeof(error), &mount_fd, error == 0 ? 1 : 0);
	_exit(0);
}

static void helper_enter(int init_pidfd, int socket)
{
	int error = 0;
	pid_t pid;

	if (setns(init_pidfd, CLONE_NEWPID) < 0)
		error = errno;
	pid = error ? -1 : fork();
	if (pid == 0)
		grandchild_make(socket);
	if (pid < 0) {
		error = error ? error : errno;
		(void)channel_send(socket, &error, sizeof(error), NULL, 0);
	} else {
		(void)waitpid(pid, NULL, 0);
	}
	_exit(0);
}

static int mount_receive(int socket, int *ret_fd)
{
	int fds[CHANNEL_FDS_MAX], error;
	size_t n_fds;
	ssize_t n;

	n = channel_receive(socket, &error, sizeof(error), fds, &n_fds);
	if (n < 0)
		return (int)n;
	if (n != sizeof(error) || (error == 0) != (n_fds == 1)) {
		channel_close_fds(fds, n_fds);
		return -EPROTO;
	}
	if (error != 0)
		return -error;
	*ret_fd = fds[0];
	return 0;
}

int procfs_make(int init_pidfd, int *ret_fd)
{
	int sockets[2], r;
	pid_t pid;

	r = channel_pair(sockets);
	if (r < 0)
		return r;
	pid = fork();
	if (pid == 0) {
		(void)fd_close(sockets[0]);
		helper_enter(init_pidfd, sockets[1]);
	}
	(void)fd_close(sockets[1]);
	r = pid < 0 ? -errno : mount_receive(sockets[0], ret_fd);
	(void)fd_close(sockets[0]);
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	return r;
}
