#include "jail/inside/namespaces.h"

#include "base/fd.h"
#include "base/macro.h"

#include <errno.h>

/*
 * The second lock beside the filter (bubblewrap's --disable-userns). A namespace counts in every
 * user namespace around it, so the limit for time namespaces is set once, in the one around the
 * cells (jaild/start.c): there no cell can change it. The others are made there for cells. Each
 * file costs an inode and its end, more than any other step of a cell.
 */

int namespaces_forbid(int sys_user_fd)
{
	static const char *const files[] = { "max_user_namespaces", "max_mnt_namespaces",
		"max_pid_namespaces", "max_net_namespaces", "max_ipc_namespaces",
		"max_uts_namespaces", "max_cgroup_namespaces" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		int r = fd_write_file(sys_user_fd, files[i], "0");

		if (r < 0)
			return r;
	}
	return 0;
}
