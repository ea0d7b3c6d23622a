#include "jail/outside/idmap.h"

#include "base/fd.h"
#include "base/str.h"
#include "jail/plan/plan.h"

/* Each file can be written once; setgroups comes first, since a gid map takes it away. */

static int map_write(int proc_fd, pid_t pid, const char *file, const char *text)
{
	char path[64];
	int r = str_format(path, sizeof(path), "%d/%s", pid, file);

	return r < 0 ? r : fd_write_file(proc_fd, path, text);
}

int idmap_write(int proc_fd, pid_t pid, const struct id_pair *pair)
{
	char map[64];
	int r;

	r = str_format(map, sizeof(map), "%d %u 1\n%d %u 1\n", CELL_INIT_ID, pair->init_id,
		CELL_SCRIPT_ID, pair->script_id);
	if (r < 0)
		return r;
	r = map_write(proc_fd, pid, "setgroups", "deny");
	if (r < 0)
		return r;
	r = map_write(proc_fd, pid, "uid_map", map);
	if (r < 0)
		return r;
	return map_write(proc_fd, pid, "gid_map", map);
}
