#include "jail/inside/namespaces.h"

#include "base/fd.h"
#include "base/macro.h"

#include <errno.h>

/*
 * The second lock beside the filter (bubblewrap's --disable-userns). time namespaces came with
 * Linux 5.6, below our floor of 5.14, so every file must be there.
 */

int namespaces_forbid(int sys_user_fd)
{
	static const char *const files[] = { "max_user_namespaces", "max_mnt_namespaces",
		"max_pid_namespaces", "max_net_namespaces", "max_ipc_namespaces",
		"max_uts_namespaces", "max_cgroup_namespaces", "max_time_namespaces" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		int r = fd_write_file(sys_user_fd, files[i], "0");

		if (r < 0)
			return r;
	}
	return 0;
}
