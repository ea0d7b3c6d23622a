#pragma once

#include "jail/cgroup/cgroup.h"

/* The functions of cgroup.h, once per back end; cgroup.c chooses by root->backend. */
struct cgroup_backend {
	int (*zygotes_make)(const struct cgroup_root *root, const char *name, uint64_t limit_bytes);
	int (*zygotes_open)(
		const struct cgroup_root *root, const char *name, struct cgroup_door *door);
	int (*kills)(const struct cgroup_root *root, const char *name, uint64_t *ret_kills);
	int (*session_make)(const struct cgroup_root *root, struct cgroup_session *session);
	int (*session_remove)(const struct cgroup_root *root, struct cgroup_session *session);
	int (*cell_make)(const struct cgroup_root *root, const struct wire_limits *limits,
		const struct cgroup_cell *cell);
	int (*cell_remove)(const struct cgroup_root *root, const struct cgroup_cell *cell);
	int (*run_begin)(const struct cgroup_root *root, struct cgroup_session *session,
		const struct wire_limits *limits, uint64_t home_bytes);
	void (*run_end)(const struct cgroup_root *root, struct cgroup_session *session,
		struct cgroup_cell *cell, struct cgroup_usage *usage);
	int (*cell_open)(const struct cgroup_root *root, const struct cgroup_cell *cell, int *fd);
	int (*cell_tasks_open)(const struct cgroup_root *root, const struct cgroup_cell *cell,
		int ret_fds[CGROUP_TASKS_MAX]);
	int (*cell_kill)(const struct cgroup_root *root, const struct cgroup_cell *cell);
	int (*cell_is_empty)(const struct cgroup_root *root, struct cgroup_cell *cell);
	int (*cell_count)(
		const struct cgroup_root *root, const struct cgroup_cell *cell, uint64_t *ret_n);
};

extern const struct cgroup_backend cgroup_v1;
extern const struct cgroup_backend cgroup_v2;
extern const struct cgroup_backend cgroup_none;
