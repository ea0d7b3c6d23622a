#pragma once

#include "jail/cgroup/cgroup.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * What a live interpreter needs of the control groups beyond a run's (decisions 1, 2, 37): its cell
 * stands still between calls, by cgroup.freeze of its leaf in the v2 tree, which lies beside v1's
 * trees as well; and its memory is told apart from that of the home. All return 0 or -errno.
 */

/* The leaf's folder; the caller closes *ret_fd. -EOPNOTSUPP where there is no v2 tree. */
int cgroup_leaf_take(
	const struct cgroup_root *root, const struct cgroup_cell *cell, int *ret_leaf_fd);

/* Asks the kernel to stop all processes of the leaf, or to let them go on. Stopping takes a moment:
 * cgroup_leaf_is_frozen returns 1 once all stand still, 0 before, or -errno. */
int cgroup_leaf_freeze(int leaf_fd, bool is_frozen);
int cgroup_leaf_is_frozen(int leaf_fd);

/* CPU time that the leaf has used. */
int cgroup_leaf_cpu_us(int leaf_fd, uint64_t *ret_cpu_us);

/* Processes in the leaf, without those that have died: the first so many, more than a profile
 * allows. */
#define CGROUP_LEAF_PIDS_MAX 512
int cgroup_leaf_processes(int leaf_fd, pid_t pids[CGROUP_LEAF_PIDS_MAX], size_t *ret_n);

/* v1: how many the kernel has killed for memory in the session since cgroup_run_begin; and
 * takes the event of a kill away. */
int cgroup_session_kills(
	const struct cgroup_root *root, const struct cgroup_session *session, uint64_t *ret_kills);
void cgroup_session_event_clear(const struct cgroup_session *session);

/* What the session's group holds. */
struct cgroup_memory {
	uint64_t own_bytes; /* memory that is no file's: of processes, and the kernel's for them */
	uint64_t shmem_bytes; /* of tmpfs and memfds: the home's and what cells that live hold */
};

int cgroup_session_memory(const struct cgroup_root *root, const struct cgroup_session *session,
	struct cgroup_memory *ret_memory);
