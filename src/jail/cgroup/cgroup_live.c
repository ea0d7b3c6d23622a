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

/* The leaf is opened once and its files through it: a call writes and reads them several times. */

int cgroup_leaf_take(
	const struct cgroup_root *root, const struct cgroup_cell *cell, int *ret_leaf_fd)
{
	int fd = -1;
	int r = cgroup_cell_open(root, cell, &fd);

	if (r < 0)
		return r;
	if (fd < 0)
		return -EOPNOTSUPP;
	*ret_leaf_fd = fd;
	return 0;
}

int cgroup_leaf_freeze(int leaf_fd, bool is_frozen)
{
	return fd_write_file(leaf_fd, "cgroup.freeze", is_frozen ? "1" : "0");
}

int cgroup_leaf_is_frozen(int leaf_fd)
{
	uint64_t frozen = 0;
	int r = cgroup_file_number(leaf_fd, "cgroup.events", "frozen", &frozen);

	return r < 0 ? r : frozen == 1;
}

int cgroup_leaf_cpu_us(int leaf_fd, uint64_t *ret_cpu_us)
{
	return cgroup_file_number(leaf_fd, "cpu.stat", "usage_usec", ret_cpu_us);
}

int cgroup_leaf_processes(int leaf_fd, pid_t pids[CGROUP_LEAF_PIDS_MAX], size_t *ret_n)
{
	AUTO_CLOSE int fd = beneath_open(leaf_fd, "cgroup.procs", O_RDONLY, 0);
	char text[CGROUP_LEAF_PIDS_MAX * 8]; /* each has up to seven digits */
	ssize_t size = fd < 0 ? fd : fd_read_full(fd, text, sizeof(text));
	struct str rest = { .p = text }, line;
	size_t n = 0;
	uint64_t pid;

	if (size < 0)
		return (int)size;
	rest.n = (size_t)size;
	while (n < CGROUP_LEAF_PIDS_MAX && str_split_once(rest, '\n', &line, &rest))
		if (str_to_u64(line, INT32_MAX, &pid) == 0)
			pids[n++] = (pid_t)pid;
	*ret_n = n;
	return 0;
}

int cgroup_session_kills(
	const struct cgroup_root *root, const struct cgroup_session *session, uint64_t *ret_kills)
{
	char name[CGROUP_NAME_MAX];
	uint64_t number = 0;
	int r;

	cgroup_session_name(name, session->number);
	r = cgroup_file_number_in(root->memory_fd, name, "memory.oom_control", "oom_kill", &number);
	if (r == 0)
		*ret_kills = number - MIN(number, session->oom_kills_at_start);
	return r;
}

void cgroup_session_event_clear(const struct cgroup_session *session)
{
	uint64_t events;

	(void)!read(session->oom_fd, &events, sizeof(events));
}

/* The two trees name the same things differently; both count a tmpfs among the files. */
int cgroup_session_memory(const struct cgroup_root *root, const struct cgroup_session *session,
	struct cgroup_memory *ret_memory)
{
	bool is_v2 = root->backend == WIRE_CGROUP_V2;
	int fd = is_v2 ? root->unified_fd : root->memory_fd;
	uint64_t used = 0, files = 0, shmem = 0;
	char name[CGROUP_NAME_MAX];
	int r;

	*ret_memory = (struct cgroup_memory){ 0 };
	if (root->backend == WIRE_CGROUP_NONE)
		return 0;
	cgroup_session_name(name, session->number);
	r = cgroup_file_number_in(
		fd, name, is_v2 ? "memory.current" : "memory.usage_in_bytes", NULL, &used);
	if (r == 0)
		r = cgroup_file_number_in(
			fd, name, "memory.stat", is_v2 ? "file" : "cache", &files);
	if (r == 0)
		r = cgroup_file_number_in(fd, name, "memory.stat", "shmem", &shmem);
	if (r < 0)
		return r;
	ret_memory->own_bytes = used > files ? used - files : 0;
	ret_memory->shmem_bytes = shmem;
	return 0;
}
