#include "jail/cgroup/cgroup.h"

#include "base/assert.h"
#include "base/fd.h"
#include "jail/cgroup/cgroup_backend.h"
#include "jail/cgroup/cgroup_file.h"

/* One decision, made by the launcher when it found the host's trees, holds for jaild's whole life.
 */

static const struct cgroup_backend *backend_of(const struct cgroup_root *root)
{
	switch (root->backend) {
	case WIRE_CGROUP_NONE:
		return &cgroup_none;
	case WIRE_CGROUP_V1:
		return &cgroup_v1;
	case WIRE_CGROUP_V2:
		return &cgroup_v2;
	}
	unreachable_();
}

int cgroup_zygotes_make(const struct cgroup_root *root, const char *name, uint64_t limit_bytes)
{
	return backend_of(root)->zygotes_make(root, name, limit_bytes);
}

int cgroup_zygotes_open(
	const struct cgroup_root *root, const char *name, struct cgroup_door *ret_door)
{
	*ret_door = (struct cgroup_door){ -1, -1 };
	return backend_of(root)->zygotes_open(root, name, ret_door);
}

int cgroup_kills(const struct cgroup_root *root, const char *name, uint64_t *ret_kills)
{
	*ret_kills = 0;
	return backend_of(root)->kills(root, name, ret_kills);
}

void cgroup_session_init(struct cgroup_session *session)
{
	*session = (struct cgroup_session){
		.peak_fd = -1, .oom_fd = -1, .shmem_known_bytes = CGROUP_UNKNOWN
	};
	for (int i = 0; i < CGROUP_SESSION_FILES; i++)
		session->file_fds[i] = -1;
}

void cgroup_session_rest(struct cgroup_session *session)
{
	for (int i = 0; i < CGROUP_SESSION_FILES; i++)
		session->file_fds[i] = fd_close(session->file_fds[i]);
}

int cgroup_session_make(
	const struct cgroup_root *root, uint32_t number, struct cgroup_session *ret_session)
{
	cgroup_session_init(ret_session);
	ret_session->number = number;
	return backend_of(root)->session_make(root, ret_session);
}

int cgroup_session_remove(const struct cgroup_root *root, struct cgroup_session *session)
{
	session->peak_fd = fd_close(session->peak_fd);
	session->oom_fd = fd_close(session->oom_fd);
	cgroup_session_rest(session);
	return backend_of(root)->session_remove(root, session);
}

void cgroup_cell_init(struct cgroup_cell *cell)
{
	*cell = (struct cgroup_cell){ .leaf_fd = -1 };
	for (int i = 0; i < CGROUP_CELL_FILES; i++)
		cell->file_fds[i] = -1;
}

int cgroup_cell_make(const struct cgroup_root *root, const struct wire_limits *limits,
	const struct cgroup_cell *cell)
{
	return backend_of(root)->cell_make(root, limits, cell);
}

static void cell_release(struct cgroup_cell *cell)
{
	if (!cell->is_held)
		return;
	cell->leaf_fd = fd_close(cell->leaf_fd);
	for (int i = 0; i < cell->n_tasks; i++)
		cell->task_fds[i] = fd_close(cell->task_fds[i]);
	cell->is_held = false;
}

int cgroup_cell_hold(const struct cgroup_root *root, struct cgroup_cell *cell)
{
	int leaf_fd = -1, n, r;

	if (cell->is_held)
		return 0;
	r = cgroup_cell_open(root, cell, &leaf_fd);
	if (r < 0)
		return r;
	n = cgroup_cell_tasks_open(root, cell, cell->task_fds);
	if (n < 0) {
		(void)fd_close(leaf_fd);
		return n;
	}
	cell->leaf_fd = leaf_fd;
	cell->n_tasks = n;
	cell->is_held = true;
	return 0;
}

int cgroup_cell_remove(const struct cgroup_root *root, struct cgroup_cell *cell)
{
	for (int i = 0; i < CGROUP_CELL_FILES; i++)
		cell->file_fds[i] = fd_close(cell->file_fds[i]);
	cell_release(cell);
	return backend_of(root)->cell_remove(root, cell);
}

int cgroup_run_begin(const struct cgroup_root *root, struct cgroup_session *session,
	const struct wire_limits *limits, uint64_t home_bytes)
{
	return backend_of(root)->run_begin(root, session, limits, home_bytes);
}

void cgroup_run_end(const struct cgroup_root *root, struct cgroup_session *session,
	struct cgroup_cell *cell, struct cgroup_usage *ret_usage)
{
	uint64_t cpu_us;

	*ret_usage = (struct cgroup_usage){ .pids_refused = cell->pids_refused };
	backend_of(root)->run_end(root, session, cell, ret_usage);
	cpu_us = ret_usage->cpu_us;
	ret_usage->cpu_us -= ret_usage->has_cpu ? cell->cpu_us : 0;
	ret_usage->is_out_of_pids = ret_usage->pids_refused > cell->pids_refused;
	cell->cpu_us = cpu_us;
	cell->pids_refused = ret_usage->pids_refused;
	session->had_run = true;
}

bool cgroup_run_has_peak(const struct cgroup_root *root, const struct cgroup_session *session)
{
	char name[CGROUP_NAME_MAX];
	uint64_t peak_bytes;

	switch (root->backend) {
	case WIRE_CGROUP_NONE:
		return false;
	case WIRE_CGROUP_V1:
		return true;
	case WIRE_CGROUP_V2:
		if (session->peak_fd >= 0 || session->had_run)
			return session->peak_fd >= 0;
		/* that of the group's life; before 5.19 there is none */
		cgroup_session_name(name, session->number);
		return cgroup_file_number_in(
			       root->unified_fd, name, "memory.peak", NULL, &peak_bytes) == 0;
	}
	unreachable_();
}

int cgroup_cell_open(const struct cgroup_root *root, const struct cgroup_cell *cell, int *ret_fd)
{
	return backend_of(root)->cell_open(root, cell, ret_fd);
}

int cgroup_cell_tasks_open(const struct cgroup_root *root, const struct cgroup_cell *cell,
	int ret_fds[CGROUP_TASKS_MAX])
{
	return backend_of(root)->cell_tasks_open(root, cell, ret_fds);
}

int cgroup_cell_kill(const struct cgroup_root *root, struct cgroup_cell *cell)
{
	cell->was_killed = true;
	return backend_of(root)->cell_kill(root, cell);
}

int cgroup_cell_count(
	const struct cgroup_root *root, const struct cgroup_cell *cell, uint64_t *ret_n)
{
	return backend_of(root)->cell_count(root, cell, ret_n);
}

int cgroup_cell_is_empty(const struct cgroup_root *root, struct cgroup_cell *cell)
{
	return backend_of(root)->cell_is_empty(root, cell);
}
