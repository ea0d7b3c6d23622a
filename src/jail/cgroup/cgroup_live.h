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

/* Asks the kernel to stop all processes of a cell whose leaf is held (cgroup_cell_hold), or to let
 * them go on; -EOPNOTSUPP where there is no v2 tree. The file stays open in *fd (-1: not yet),
 * which the caller closes. Stopping takes a moment: cgroup_cell_is_frozen returns 1 once all stand
 * still, 0 before, or -errno. */
int cgroup_cell_freeze(const struct cgroup_cell *cell, int *fd, bool is_frozen);
int cgroup_cell_is_frozen(struct cgroup_cell *cell);

/* Processes in the cell, without those that have died: the first so many, more than a profile
 * allows. The kernel can miss one, in which meanwhile a thread executes a program after the first
 * thread has ended. */
#define CGROUP_CELL_PIDS_MAX 512
int cgroup_cell_processes(
	const struct cgroup_cell *cell, pid_t pids[CGROUP_CELL_PIDS_MAX], size_t *ret_n);

/* The same of threads, each by its own number, a process's first one by the process's: none that
 * lives is missed. */
int cgroup_cell_threads(
	const struct cgroup_cell *cell, pid_t pids[CGROUP_CELL_PIDS_MAX], size_t *ret_n);

/* How many the kernel has killed for memory in the session since cgroup_run_begin (0 where that is
 * not counted). */
int cgroup_session_kills(
	const struct cgroup_root *root, const struct cgroup_session *session, uint64_t *ret_kills);
/* v1: takes the event of a kill away. */
void cgroup_session_event_clear(const struct cgroup_session *session);

/* What the session's group holds. */
struct cgroup_memory {
	uint64_t own_bytes; /* memory that is no file's: of processes, and the kernel's for them */
	uint64_t shmem_bytes; /* of tmpfs and memfds: the home's and what cells that live hold */
};

int cgroup_session_memory(const struct cgroup_root *root, struct cgroup_session *session,
	struct cgroup_memory *ret_memory);
