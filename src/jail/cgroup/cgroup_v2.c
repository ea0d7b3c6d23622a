#include "jail/cgroup/cgroup_backend.h"

#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"
#include "jail/cgroup/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * cgroup v2: s1/ carries the memory of session 1 and holds no process itself; s1/c1/ is the leaf of
 * its first cell, with pids and cpu. memory.oom.group on the session: the kernel kills all of a
 * session's processes or none, so a run that is over its memory never goes on in part.
 */

static void cell_name(char *name, const struct cgroup_cell *cell)
{
	(void)str_format(
		name, CGROUP_NAME_MAX, "s%" PRIu32 "/c%" PRIu32, cell->session, cell->number);
}

/* Without memory.oom.group: of two zygotes the kernel takes the larger one, or their child. */
static int zygotes_make(const struct cgroup_root *root, const char *name, uint64_t limit_bytes)
{
	int r;

	if (mkdirat(root->unified_fd, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	r = cgroup_file_write_in(root->unified_fd, name, "memory.swap.max", "0");
	if (r < 0 && r != -ENOENT)
		return r;
	return cgroup_file_set_in(root->unified_fd, name, "memory.max", limit_bytes);
}

static int zygotes_open(const struct cgroup_root *root, const char *name, struct cgroup_door *door)
{
	return cgroup_leaf_open(root->unified_fd, name, &door->leaf_fd);
}

static int kills(const struct cgroup_root *root, const char *name, uint64_t *ret_kills)
{
	return cgroup_file_number_in(
		root->unified_fd, name, "memory.events", "oom_kill", ret_kills);
}

static int session_make(const struct cgroup_root *root, struct cgroup_session *session)
{
	char name[CGROUP_NAME_MAX];
	int r;

	cgroup_session_name(name, session->number);
	if (mkdirat(root->unified_fd, name, 0755) < 0)
		return -errno;
	r = cgroup_file_write_in(root->unified_fd, name, "cgroup.subtree_control", "+pids +cpu");
	if (r < 0)
		return r;
	r = cgroup_file_write_in(root->unified_fd, name, "memory.oom.group", "1");
	if (r < 0)
		return r;
	r = cgroup_file_write_in(root->unified_fd, name, "memory.swap.max", "0");
	return r == -ENOENT ? 0 : r; /* a kernel without swap accounting has no swap to limit */
}

static int session_remove(const struct cgroup_root *root, struct cgroup_session *session)
{
	char name[CGROUP_NAME_MAX];

	cgroup_session_name(name, session->number);
	return unlinkat(root->unified_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int cell_make(const struct cgroup_root *root, const struct wire_limits *limits,
	const struct cgroup_cell *cell)
{
	char name[CGROUP_NAME_MAX], quota[48];
	int r;

	cell_name(name, cell);
	if (mkdirat(root->unified_fd, name, 0755) < 0)
		return -errno;
	r = cgroup_file_set_in(root->unified_fd, name, "pids.max", limits->processes + 1);
	if (r < 0)
		return r;
	(void)str_format(quota, sizeof(quota), "%" PRIu64 " 100000", limits->cpu_ms_per_s * 100);
	return cgroup_file_write_in(root->unified_fd, name, "cpu.max", quota);
}

static int cell_remove(const struct cgroup_root *root, const struct cgroup_cell *cell)
{
	char name[CGROUP_NAME_MAX];

	cell_name(name, cell);
	return unlinkat(root->unified_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* Kernels from 6.12 on let a writer reset the peak for its own descriptor. */
static void peak_begin(
	const struct cgroup_root *root, struct cgroup_session *session, const char *name)
{
	char path[2 * CGROUP_NAME_MAX];

	session->peak_fd = fd_close(session->peak_fd);
	(void)str_format(path, sizeof(path), "%s/memory.peak", name);
	session->peak_fd = openat(root->unified_fd, path, O_RDWR | O_CLOEXEC);
	if (session->peak_fd >= 0 && write(session->peak_fd, "reset", 5) != 5)
		session->peak_fd = fd_close(session->peak_fd);
}

static int run_begin(const struct cgroup_root *root, struct cgroup_session *session,
	const struct wire_limits *limits, uint64_t home_bytes)
{
	char name[CGROUP_NAME_MAX];
	uint64_t limit_bytes;
	int r;

	cgroup_session_name(name, session->number);
	r = cgroup_shmem_known(session, home_bytes)
		    ? 0
		    : cgroup_held_shmem(
			      &(struct cgroup_held){ { root->unified_fd, name, "memory.current" },
				      { root->unified_fd, name, "memory.stat" },
				      &session->file_fds[CGROUP_USED],
				      &session->file_fds[CGROUP_STAT] },
			      home_bytes, &session->shmem_at_start_bytes);
	if (r < 0)
		return r;
	limit_bytes = limits->memory_bytes + MIN(session->shmem_at_start_bytes, home_bytes);
	if (limit_bytes != session->limit_bytes) {
		session->limit_bytes = 0; /* until it is known to stand */
		r = cgroup_file_set_in(root->unified_fd, name, "memory.max", limit_bytes);
	}
	if (r < 0)
		return r;
	session->limit_bytes = limit_bytes;
	r = cgroup_held_number(&session->file_fds[CGROUP_OOM],
		&(struct cgroup_path){ root->unified_fd, name, "memory.events" }, "oom_kill",
		&session->oom_kills_at_start);
	if (r < 0)
		return r;
	peak_begin(root, session, name);
	return 0;
}

static bool peak_read(const struct cgroup_root *root, const struct cgroup_session *session,
	const char *name, uint64_t *ret_peak)
{
	char text[32];
	ssize_t n;

	if (session->peak_fd < 0) {
		if (session->had_run)
			return false;
		return cgroup_file_number_in(
			       root->unified_fd, name, "memory.peak", NULL, ret_peak) == 0;
	}
	n = pread(session->peak_fd, text, sizeof(text), 0);
	if (n <= 0)
		return false;
	return str_to_u64(str_trim((struct str){ .p = text, .n = (size_t)n }), UINT64_MAX,
		       ret_peak) == 0;
}

static void run_end(const struct cgroup_root *root, struct cgroup_session *session,
	struct cgroup_cell *cell, struct cgroup_usage *usage)
{
	char name[CGROUP_NAME_MAX], leaf[CGROUP_NAME_MAX];
	uint64_t number;

	cgroup_session_name(name, session->number);
	cell_name(leaf, cell);
	usage->has_cpu = cgroup_held_number(&cell->file_fds[CGROUP_CPU],
				 &(struct cgroup_path){ root->unified_fd, leaf, "cpu.stat" },
				 "usage_usec", &usage->cpu_us) == 0;
	usage->has_peak = peak_read(root, session, name, &usage->memory_peak_bytes);
	if (cgroup_held_number(&session->file_fds[CGROUP_OOM],
		    &(struct cgroup_path){ root->unified_fd, name, "memory.events" }, "oom_kill",
		    &number) == 0)
		usage->is_out_of_memory = number > session->oom_kills_at_start;
	if (cgroup_held_number(&cell->file_fds[CGROUP_PIDS],
		    &(struct cgroup_path){ root->unified_fd, leaf, "pids.events" }, "max",
		    &number) == 0)
		usage->pids_refused = number;
	session->peak_fd = fd_close(session->peak_fd);
}

static int cell_open(const struct cgroup_root *root, const struct cgroup_cell *cell, int *fd)
{
	char name[CGROUP_NAME_MAX];

	cell_name(name, cell);
	return cgroup_leaf_open(root->unified_fd, name, fd);
}

static int cell_tasks_open(const struct cgroup_root *root, const struct cgroup_cell *cell,
	int ret_fds[CGROUP_TASKS_MAX])
{
	(void)root;
	(void)cell;
	(void)ret_fds;
	return 0;
}

static int cell_kill(const struct cgroup_root *root, const struct cgroup_cell *cell)
{
	char name[CGROUP_NAME_MAX];

	cell_name(name, cell);
	return cgroup_leaf_kill(root->unified_fd, name);
}

static int cell_is_empty(const struct cgroup_root *root, struct cgroup_cell *cell)
{
	char name[CGROUP_NAME_MAX];

	cell_name(name, cell);
	return cgroup_held_is_empty(&cell->file_fds[CGROUP_EVENTS], root->unified_fd, name);
}

static int cell_count(
	const struct cgroup_root *root, const struct cgroup_cell *cell, uint64_t *ret_n)
{
	char name[CGROUP_NAME_MAX];

	cell_name(name, cell);
	return cgroup_file_number_in(root->unified_fd, name, "pids.current", NULL, ret_n);
}

const struct cgroup_backend cgroup_v2 = {
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
