#include "jail/cgroup/cgroup_live.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"
#include "jail/cgroup/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

/* What is written and read in every call stays open. */

int cgroup_cell_freeze(const struct cgroup_cell *cell, int *fd, bool is_frozen)
{
	const struct cgroup_path path = { cell->leaf_fd, ".", "cgroup.freeze" };

	if (cell->leaf_fd < 0)
		return -EOPNOTSUPP;
	return cgroup_held_write(fd, &path, is_frozen ? "1" : "0");
}

int cgroup_cell_is_frozen(struct cgroup_cell *cell)
{
	const struct cgroup_path path = { cell->leaf_fd, ".", "cgroup.events" };
	uint64_t frozen = 0;
	int r = cgroup_held_number(&cell->file_fds[CGROUP_EVENTS], &path, "frozen", &frozen);

	return r < 0 ? r : frozen == 1;
}

static int pids_read(const struct cgroup_cell *cell, const char *name,
	pid_t pids[CGROUP_CELL_PIDS_MAX], size_t *ret_n)
{
	AUTO_CLOSE int fd = beneath_open(cell->leaf_fd, name, O_RDONLY, 0);
	char text[CGROUP_CELL_PIDS_MAX * 8]; /* each has up to seven digits */
	ssize_t size = fd < 0 ? fd : fd_read_full(fd, text, sizeof(text));
	struct str rest = { .p = text }, line;
	size_t n = 0;
	uint64_t pid;

	if (size < 0)
		return (int)size;
	rest.n = (size_t)size;
	while (n < CGROUP_CELL_PIDS_MAX && str_split_once(rest, '\n', &line, &rest))
		if (str_to_u64(line, INT32_MAX, &pid) == 0)
			pids[n++] = (pid_t)pid;
	*ret_n = n;
	return 0;
}

int cgroup_cell_processes(
	const struct cgroup_cell *cell, pid_t pids[CGROUP_CELL_PIDS_MAX], size_t *ret_n)
{
	return pids_read(cell, "cgroup.procs", pids, ret_n);
}

int cgroup_cell_threads(
	const struct cgroup_cell *cell, pid_t pids[CGROUP_CELL_PIDS_MAX], size_t *ret_n)
{
	return pids_read(cell, "cgroup.threads", pids, ret_n);
}

int cgroup_session_kills(
	const struct cgroup_root *root, const struct cgroup_session *session, uint64_t *ret_kills)
{
	char name[CGROUP_NAME_MAX];
	uint64_t number;
	int r;

	cgroup_session_name(name, session->number);
	r = cgroup_kills(root, name, &number);
	*ret_kills = r == 0 ? number - MIN(number, session->oom_kills_at_start) : 0;
	return r;
}

void cgroup_session_event_clear(const struct cgroup_session *session)
{
	uint64_t events;

	(void)!read(session->oom_fd, &events, sizeof(events));
}

/* The two trees name the same things differently; both count a tmpfs among the files. */
int cgroup_session_memory(const struct cgroup_root *root, struct cgroup_session *session,
	struct cgroup_memory *ret_memory)
{
	bool is_v2 = root->backend == WIRE_CGROUP_V2;
	const char *const keys[2] = { is_v2 ? "file" : "cache", "shmem" };
	char name[CGROUP_NAME_MAX];
	int fd = is_v2 ? root->unified_fd : root->memory_fd;
	uint64_t used = 0, held[2] = { 0 };
	int r;

	*ret_memory = (struct cgroup_memory){ 0 };
	if (root->backend == WIRE_CGROUP_NONE)
		return 0;
	cgroup_session_name(name, session->number);
	r = cgroup_held_number(&session->file_fds[CGROUP_USED],
		&(struct cgroup_path){
			fd, name, is_v2 ? "memory.current" : "memory.usage_in_bytes" },
		NULL, &used);
	if (r == 0)
		r = cgroup_held_numbers(&session->file_fds[CGROUP_STAT],
			&(struct cgroup_path){ fd, name, "memory.stat" }, keys, held);
	if (r < 0)
		return r;
	ret_memory->own_bytes = used > held[0] ? used - held[0] : 0;
	ret_memory->shmem_bytes = held[1];
	return 0;
}
