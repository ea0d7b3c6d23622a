#pragma once

#include <sys/types.h>

/* The two ids of a session, as numbers of jaild's user namespace; uid and gid alike. */
struct id_pair {
	unsigned init_id;
	unsigned script_id;
};

/* Maps CELL_INIT_ID and CELL_SCRIPT_ID of process pid's new user namespace to the pair, with
 * setgroups denied. proc_fd is jaild's own /proc. Returns 0 or -errno. user_namespaces(7) */
int idmap_write(int proc_fd, pid_t pid, const struct id_pair *pair);
