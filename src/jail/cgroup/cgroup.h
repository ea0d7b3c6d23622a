#pragma once

#include "wire/limits.h"
#include "wire/message.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Limits by control groups, on cgroup v2 and v1 behind the same functions (decisions 1 to 3). A
 * session has one group that carries the memory; below or beside it each cell has a leaf that
 * carries processes and CPU and can be killed as a whole. Groups are named by numbers, through
 * descriptors of the delegated folders; nothing is opened by a path of the host. All return 0 or
 * -errno unless they say otherwise.
 */

/* The delegated folders, -1 where the back end has none; they belong to whoever made this. */
struct cgroup_root {
	enum wire_backend backend;
	int unified_fd; /* v2; on v1 the tree without controllers beside it */
	int memory_fd;	/* the rest: v1 only */
	int pids_fd;
	int cpu_fd;
};

/* What is read in every run, and so kept open while the session is not at rest. */
enum cgroup_session_file {
	CGROUP_USED,
	CGROUP_STAT,
	CGROUP_OOM,
	CGROUP_PEAK, /* v1 */
	CGROUP_SESSION_FILES
};

enum cgroup_cell_file {
	CGROUP_CPU,
	CGROUP_PIDS,
	CGROUP_EVENTS,
	CGROUP_CELL_FILES
};

#define CGROUP_UNKNOWN UINT64_MAX

/* A session's group, embedded in its owner. */
struct cgroup_session {
	uint32_t number;
	int peak_fd;	      /* v2: memory.peak as opened for the run under way */
	int oom_fd;	      /* v1: readable when the kernel has killed for memory; -1 on v2 */
	bool had_run;	      /* v2 before 6.12: memory.peak is of one run only the first time */
	uint64_t limit_bytes; /* as it stands; 0: none yet */
	uint64_t shmem_at_start_bytes;
	uint64_t shmem_known_bytes; /* of an empty home's session, read a moment ago, until its
				       next run begins; else CGROUP_UNKNOWN */
	uint64_t oom_kills_at_start;
	int file_fds[CGROUP_SESSION_FILES];
};

/* Files that a process writes a 0 into to enter a cell's groups, at most. */
#define CGROUP_TASKS_MAX 3

/* A leaf. It serves one cell after another, as long as none had to be killed by the group: a
 * process that is born in one that was (CLONE_INTO_CGROUP) dies at birth on some kernels. */
struct cgroup_cell {
	uint32_t session;
	uint32_t number;
	bool was_killed;
	uint64_t cpu_us;       /* used in it before the run under way */
	uint64_t pids_refused; /* forks, before */
	int file_fds[CGROUP_CELL_FILES];
	bool is_held; /* what is below is open, for as long as the leaf serves */
	int leaf_fd;
	int task_fds[CGROUP_TASKS_MAX];
	int n_tasks;
};

/* What a run used, as far as the back end can tell. */
struct cgroup_usage {
	uint64_t cpu_us;
	uint64_t memory_peak_bytes;
	bool has_peak; /* else the caller falls back to the largest resident set */
	bool has_cpu;
	bool is_out_of_memory; /* the kernel has killed for memory since cgroup_run_begin */
	bool is_out_of_pids;   /* a fork was refused */
	uint64_t pids_refused; /* how many in the leaf's life */
};

/* How a process gets into a group at its birth: the folder in the v2 tree, for CLONE_INTO_CGROUP,
 * and a file of a v1 tree that it writes a 0 into. -1: not that way. The caller closes. */
struct cgroup_door {
	int leaf_fd;
	int tasks_fd;
};

/* A group of that name, beside those of the sessions, which limits the memory of the zygotes in it
 * and nothing else. It may be there already. Where there are no groups: nothing. */
int cgroup_zygotes_make(const struct cgroup_root *root, const char *name, uint64_t limit_bytes);
int cgroup_zygotes_open(
	const struct cgroup_root *root, const char *name, struct cgroup_door *ret_door);
/* How many processes in such a group, or in a session's, the kernel has killed for memory since it
 * was made; 0 where there are no groups. */
int cgroup_kills(const struct cgroup_root *root, const char *name, uint64_t *ret_kills);

/* One that has no group: not made yet. */
void cgroup_session_init(struct cgroup_session *session);

int cgroup_session_make(
	const struct cgroup_root *root, uint32_t number, struct cgroup_session *ret_session);
/* At rest: nothing is kept open but the event. */
void cgroup_session_rest(struct cgroup_session *session);
/* Removes the group; its cells must be gone. */
int cgroup_session_remove(const struct cgroup_root *root, struct cgroup_session *session);

/* One that has no group: not made yet. */
void cgroup_cell_init(struct cgroup_cell *cell);

int cgroup_cell_make(const struct cgroup_root *root, const struct wire_limits *limits,
	const struct cgroup_cell *cell);
/* -EBUSY while a process is in it. */
int cgroup_cell_remove(const struct cgroup_root *root, struct cgroup_cell *cell);

/* Sets the memory limit to limits->memory_bytes plus what of the home is charged to the session,
 * and starts the counters of one run. Files in memory beyond home_bytes are not the home's: an
 * interpreter's, or what the run before has left, which the kernel frees a moment after its death.
 * They give no memory to this one. */
int cgroup_run_begin(const struct cgroup_root *root, struct cgroup_session *session,
	const struct wire_limits *limits, uint64_t home_bytes);
/* Reads what the run used since; call when the cell is empty and before it is removed. The leaf's
 * next run counts from here. */
void cgroup_run_end(const struct cgroup_root *root, struct cgroup_session *session,
	struct cgroup_cell *cell, struct cgroup_usage *ret_usage);

/* Whether cgroup_run_end will be able to tell the peak of the run under way. */
bool cgroup_run_has_peak(const struct cgroup_root *root, const struct cgroup_session *session);

/* The leaf in the v2 tree, for CLONE_INTO_CGROUP; the caller closes. -1 in *ret_fd where the back
 * end has no such tree: not an error, and no error is mistaken for it. */
int cgroup_cell_open(const struct cgroup_root *root, const struct cgroup_cell *cell, int *ret_fd);
/* For a process that enters them itself, with jaild's ids: the files of the cell's groups that it
 * was not born in (CLONE_INTO_CGROUP), each open for a 0 to be written into. Returns how many, at
 * most CGROUP_TASKS_MAX, which the caller closes; or -errno. */
int cgroup_cell_tasks_open(const struct cgroup_root *root, const struct cgroup_cell *cell,
	int ret_fds[CGROUP_TASKS_MAX]);

/* Opens both kinds once for all cells that the leaf serves: leaf_fd and task_fds, which
 * cgroup_cell_remove closes. Returns 0 or -errno. */
int cgroup_cell_hold(const struct cgroup_root *root, struct cgroup_cell *cell);

/* Kills every process of the cell at once. Where no tree can do that: -EOPNOTSUPP. */
int cgroup_cell_kill(const struct cgroup_root *root, struct cgroup_cell *cell);
/* 1 when no process is in the cell any more, 0 while there is, or -errno. */
int cgroup_cell_is_empty(const struct cgroup_root *root, struct cgroup_cell *cell);
/* How many threads there are in the cell, those included that have died and are not waited for yet.
 * One number of the kernel's, so whoever is being born or changes meanwhile is not missed.
 * -EOPNOTSUPP where nobody counts. */
int cgroup_cell_count(
	const struct cgroup_root *root, const struct cgroup_cell *cell, uint64_t *ret_n);
