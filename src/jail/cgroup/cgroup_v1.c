#include "jail/cgroup/cgroup_backend.h"

#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"
#include "jail/cgroup/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * cgroup v1: the controllers lie in trees of their own. s1 in the memory tree is the session; s1.c1
 * in the pids and cpu trees, and in the empty v2 tree beside them, is its first cell. The v2 tree
 * serves cgroup.kill, cgroup.events and the CPU time. v1 has no memory.oom.group: the kernel kills
 * one process and raises an event, and jaild then ends the whole cell (decision 3).
 */

/* v1 counts the buffers of TCP apart from memory, without a limit of their own; the kernel's limit
 * is one for the whole host. Enough for any program that talks to itself. */
#define TCP_BUFFERS_MAX (32ULL * 1024 * 1024)

static void cell_name(char *name, const struct cgroup_cell *cell)
{
	(void)str_format(
		name, CGROUP_NAME_MAX, "s%" PRIu32 ".c%" PRIu32, cell->session, cell->number);
}

/* An eventfd that becomes readable at each time the group is out of memory. */
static int oom_event_open(const struct cgroup_root *root, const char *name)
{
	AUTO_CLOSE int event_fd = -1;
	AUTO_CLOSE int control_fd = -1;
	char path[2 * CGROUP_NAME_MAX], text[32];
	int r;

	event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (event_fd < 0)
		return -errno;
	(void)str_format(path, sizeof(path), "%s/memory.oom_control", name);
	control_fd = openat(root->memory_fd, path, O_RDONLY | O_CLOEXEC);
	if (control_fd < 0)
		return -errno;
	(void)str_format(text, sizeof(text), "%d %d", event_fd, control_fd);
	r = cgroup_file_write_in(root->memory_fd, name, "cgroup.event_control", text);
	return r < 0 ? r : TAKE_FD(event_fd);
}

/* memsw counts memory and swap together and may never be below memory alone: raise it first, lower
 * it last. A kernel without swap accounting does not have it; swappiness is 0 anyway. */
static int memory_limit(const struct cgroup_root *root, const char *name, uint64_t bytes)
{
	int r, with_swap;

	with_swap = cgroup_file_set_in(root->memory_fd, name, "memory.memsw.limit_in_bytes", bytes);
	r = cgroup_file_set_in(root->memory_fd, name, "memory.limit_in_bytes", bytes);
	if (r < 0)
		return r;
	if (with_swap < 0 && with_swap != -ENOENT)
		return cgroup_file_set_in(
			root->memory_fd, name, "memory.memsw.limit_in_bytes", bytes);
	return 0;
}

static int tasks_open(int tree_fd, const char *group)
{
	char path[2 * CGROUP_NAME_MAX];
	int fd;

	(void)str_format(path, sizeof(path), "%s/tasks", group);
	fd = openat(tree_fd, path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int zygotes_make(const struct cgroup_root *root, const char *name, uint64_t limit_bytes)
{
	int r;

	if (mkdirat(root->memory_fd, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	r = cgroup_file_set_in(root->memory_fd, name, "memory.swappiness", 0);
	return r < 0 ? r : memory_limit(root, name, limit_bytes);
}

static int zygotes_open(const struct cgroup_root *root, const char *name, struct cgroup_door *door)
{
	int fd = tasks_open(root->memory_fd, name);

	if (fd < 0)
		return fd;
	door->tasks_fd = fd;
	return 0;
}

static int kills(const struct cgroup_root *root, const char *name, uint64_t *ret_kills)
{
	return cgroup_file_number_in(
		root->memory_fd, name, "memory.oom_control", "oom_kill", ret_kills);
}

static int session_make(const struct cgroup_root *root, struct cgroup_session *session)
{
	char name[CGROUP_NAME_MAX];
	int r;

	cgroup_session_name(name, session->number);
	if (mkdirat(root->memory_fd, name, 0755) < 0)
		return -errno;
	r = cgroup_file_set_in(root->memory_fd, name, "memory.swappiness", 0);
	if (r < 0)
		return r;
	r = cgroup_file_set_in(
		root->memory_fd, name, "memory.kmem.tcp.limit_in_bytes", TCP_BUFFERS_MAX);
	if (r < 0 && r != -ENOENT)
		return r;
	session->oom_fd = oom_event_open(root, name);
	return session->oom_fd < 0 ? session->oom_fd : 0;
}

static int session_remove(const struct cgroup_root *root, struct cgroup_session *session)
{
	char name[CGROUP_NAME_MAX];

	cgroup_session_name(name, session->number);
	return unlinkat(root->memory_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int cell_make(const struct cgroup_root *root, const struct wire_limits *limits,
	const struct cgroup_cell *cell)
{
	const int trees[] = { root->pids_fd, root->cpu_fd, root->unified_fd };
	char name[CGROUP_NAME_MAX];
	int r;

	cell_name(name, cell);
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		if (trees[i] >= 0 && mkdirat(trees[i], name, 0755) < 0)
			return -errno;
	}
	r = cgroup_file_set_in(root->pids_fd, name, "pids.max", limits->processes + 1);
	if (r < 0)
		return r;
	/* per 100 ms, the kernel's own default period */
	return cgroup_file_set_in(
		root->cpu_fd, name, "cpu.cfs_quota_us", limits->cpu_ms_per_s * 100);
}

static int cell_remove(const struct cgroup_root *root, const struct cgroup_cell *cell)
{
	const int trees[] = { root->pids_fd, root->cpu_fd, root->unified_fd };
	char name[CGROUP_NAME_MAX];
	int result = 0;

	cell_name(name, cell);
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		if (trees[i] < 0)
			continue;
		if (unlinkat(trees[i], name, AT_REMOVEDIR) < 0 && errno != ENOENT)
			result = -errno;
	}
	return result;
}

static int run_begin(const struct cgroup_root *root, struct cgroup_session *session,
	const struct wire_limits *limits, uint64_t home_bytes)
{
	char name[CGROUP_NAME_MAX];
	uint64_t events, limit_bytes;
	int r;

	cgroup_session_name(name, session->number);
	r = cgroup_shmem_known(session, home_bytes)
		    ? 0
		    : cgroup_held_shmem(&(struct cgroup_held){ { root->memory_fd, name,
								       "memory.usage_in_bytes" },
						{ root->memory_fd, name, "memory.stat" },
						&session->file_fds[CGROUP_USED],
						&session->file_fds[CGROUP_STAT] },
			      home_bytes, &session->shmem_at_start_bytes);
	if (r < 0)
		return r;
	limit_bytes = limits->memory_bytes + MIN(session->shmem_at_start_bytes, home_bytes);
	if (limit_bytes != session->limit_bytes) {
		session->limit_bytes = 0; /* until it is known to stand */
		r = memory_limit(root, name, limit_bytes);
	}
	if (r < 0)
		return r;
	session->limit_bytes = limit_bytes;
	/* without an event the count is still what it was when the last run ended */
	if (read(session->oom_fd, &events, sizeof(events)) == sizeof(events))
		r = cgroup_held_number(&session->file_fds[CGROUP_OOM],
			&(struct cgroup_path){ root->memory_fd, name, "memory.oom_control" },
			"oom_kill", &session->oom_kills_at_start);
	if (r < 0)
		return r;
	return cgroup_held_write(&session->file_fds[CGROUP_PEAK],
		&(struct cgroup_path){ root->memory_fd, name, "memory.max_usage_in_bytes" }, "0");
}

static void run_end(const struct cgroup_root *root, struct cgroup_session *session,
	struct cgroup_cell *cell, struct cgroup_usage *usage)
{
	char name[CGROUP_NAME_MAX], leaf[CGROUP_NAME_MAX];
	uint64_t number;

	cgroup_session_name(name, session->number);
	cell_name(leaf, cell);
	usage->has_cpu = root->unified_fd >= 0 &&
			 cgroup_held_number(&cell->file_fds[CGROUP_CPU],
				 &(struct cgroup_path){ root->unified_fd, leaf, "cpu.stat" },
				 "usage_usec", &usage->cpu_us) == 0;
	usage->has_peak =
		cgroup_held_number(&session->file_fds[CGROUP_PEAK],
			&(struct cgroup_path){ root->memory_fd, name, "memory.max_usage_in_bytes" },
			NULL, &usage->memory_peak_bytes) == 0;
	if (cgroup_held_number(&session->file_fds[CGROUP_OOM],
		    &(struct cgroup_path){ root->memory_fd, name, "memory.oom_control" },
		    "oom_kill", &number) == 0) {
		usage->is_out_of_memory = number > session->oom_kills_at_start;
		session->oom_kills_at_start = number;
	}
	if (cgroup_held_number(&cell->file_fds[CGROUP_PIDS],
		    &(struct cgroup_path){ root->pids_fd, leaf, "pids.events" }, "max",
		    &number) == 0)
		usage->pids_refused = number;
}

static int cell_open(const struct cgroup_root *root, const struct cgroup_cell *cell, int *fd)
{
	char name[CGROUP_NAME_MAX];

	if (root->unified_fd < 0) {
		*fd = -1;
		return 0;
	}
	cell_name(name, cell);
	return cgroup_leaf_open(root->unified_fd, name, fd);
}

/* "0" into `tasks` is the one move for which the kernel takes no lock over all threads of the host;
 * every other one can wait for an RCU grace period, ten milliseconds and more. */
static int cell_tasks_open(const struct cgroup_root *root, const struct cgroup_cell *cell,
	int ret_fds[CGROUP_TASKS_MAX])
{
	const int trees[CGROUP_TASKS_MAX] = { root->memory_fd, root->pids_fd, root->cpu_fd };
	char session[CGROUP_NAME_MAX], leaf[CGROUP_NAME_MAX];

	cgroup_session_name(session, cell->session);
	cell_name(leaf, cell);
	for (int i = 0; i < CGROUP_TASKS_MAX; i++) {
		ret_fds[i] = tasks_open(trees[i], i == 0 ? session : leaf);
		if (ret_fds[i] < 0) {
			int r = ret_fds[i];

			while (i-- > 0)
				(void)fd_close(ret_fds[i]);
			return r;
		}
	}
	return CGROUP_TASKS_MAX;
}

static int cell_kill(const struct cgroup_root *root, const struct cgroup_cell *cell)
{
	char name[CGROUP_NAME_MAX];

	if (root->unified_fd < 0)
		return -EOPNOTSUPP;
	cell_name(name, cell);
	return cgroup_leaf_kill(root->unified_fd, name);
}

static int cell_is_empty(const struct cgroup_root *root, struct cgroup_cell *cell)
{
	char name[CGROUP_NAME_MAX];
	uint64_t number;
	int r;

	cell_name(name, cell);
	if (root->unified_fd < 0) {
		r = cgroup_held_number(&cell->file_fds[CGROUP_EVENTS],
			&(struct cgroup_path){ root->pids_fd, name, "pids.current" }, NULL,
			&number);
		return r < 0 ? r : number == 0;
	}
	return cgroup_held_is_empty(&cell->file_fds[CGROUP_EVENTS], root->unified_fd, name);
}

static int cell_count(
	const struct cgroup_root *root, const struct cgroup_cell *cell, uint64_t *ret_n)
{
	char name[CGROUP_NAME_MAX];

	cell_name(name, cell);
	return cgroup_file_number_in(root->pids_fd, name, "pids.current", NULL, ret_n);
}

const struct cgroup_backend cgroup_v1 = {
	.zygotes_make = zygotes_make,
	.zygotes_open = zygotes_open,
	.kills = kills,
	.session_make = session_make,
	.session_remove = session_remove,
	.cell_make = cell_make,
	.cell_remove = cell_remove,
	.run_begin = run_begin,
	.run_end = run_end,
	.cell_open = cell_open,
	.cell_tasks_open = cell_tasks_open,
	.cell_kill = cell_kill,
	.cell_is_empty = cell_is_empty,
	.cell_count = cell_count,
};
