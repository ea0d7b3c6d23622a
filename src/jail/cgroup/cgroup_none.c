#include "jail/cgroup/cgroup_backend.h"

#include <errno.h>

/*
 * No limits: for a host that delegates no cgroup, when its owner accepts that with
 * --unlimited-host. The namespaces, the filter and the resource limits still hold, and what is
 * missing is told in every answer. A cell is ended through its init alone.
 */

static int zygotes_make(const struct cgroup_root *root, const char *name, uint64_t limit_bytes)
{
	(void)root;
	(void)name;
	(void)limit_bytes;
	return 0;
}

static int zygotes_open(const struct cgroup_root *root, const char *name, struct cgroup_door *door)
{
	(void)root;
	(void)name;
	(void)door;
	return 0;
}

static int kills(const struct cgroup_root *root, const char *name, uint64_t *ret_kills)
{
	(void)root;
	(void)name;
	(void)ret_kills;
	return 0;
}

static int session_ok(const struct cgroup_root *root, struct cgroup_session *session)
{
	(void)root;
	(void)session;
	return 0;
}

static int cell_make(const struct cgroup_root *root, const struct wire_limits *limits,
	const struct cgroup_cell *cell)
{
	(void)root;
	(void)limits;
	(void)cell;
	return 0;
}

static int cell_ok(const struct cgroup_root *root, const struct cgroup_cell *cell)
{
	(void)root;
	(void)cell;
	return 0;
}

static int run_begin(const struct cgroup_root *root, struct cgroup_session *session,
	const struct wire_limits *limits, uint64_t home_bytes)
{
	(void)home_bytes;
	(void)root;
	(void)session;
	(void)limits;
	return 0;
}

static void run_end(const struct cgroup_root *root, struct cgroup_session *session,
	struct cgroup_cell *cell, struct cgroup_usage *usage)
{
	(void)root;
	(void)session;
	(void)cell;
	(void)usage;
}

static int cell_open(const struct cgroup_root *root, const struct cgroup_cell *cell, int *fd)
{
	(void)root;
	(void)cell;
	*fd = -1;
	return 0;
}

static int cell_kill(const struct cgroup_root *root, const struct cgroup_cell *cell)
{
	(void)root;
	(void)cell;
	return -EOPNOTSUPP;
}

static int cell_is_empty(const struct cgroup_root *root, struct cgroup_cell *cell)
{
	(void)root;
	(void)cell;
	return 1;
}

static int cell_count(
	const struct cgroup_root *root, const struct cgroup_cell *cell, uint64_t *ret_n)
{
	(void)root;
	(void)cell;
	(void)ret_n;
	return -EOPNOTSUPP;
}

static int cell_tasks_open(const struct cgroup_root *root, const struct cgroup_cell *cell,
	int ret_fds[CGROUP_TASKS_MAX])
{
	(void)root;
	(void)cell;
	(void)ret_fds;
	return 0;
}

const struct cgroup_backend cgroup_none = {
	.zygotes_make = zygotes_make,
	.zygotes_open = zygotes_open,
	.kills = kills,
	.session_make = session_ok,
	.session_remove = session_ok,
	.cell_make = cell_make,
	.cell_remove = cell_ok,
	.run_begin = run_begin,
	.run_end = run_end,
	.cell_open = cell_open,
	.cell_tasks_open = cell_tasks_open,
	.cell_kill = cell_kill,
	.cell_is_empty = cell_is_empty,
	.cell_count = cell_count,
};
