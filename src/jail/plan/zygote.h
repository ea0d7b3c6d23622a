#pragma once

#include <stdint.h>

/*
 * What jaild and a zygote say to each other, and how a zygote starts. A zygote is an interpreter
 * that has loaded what scripts import and waits; what jaild asks of it is a copy of itself inside
 * of a cell in which nothing has run yet.
 *
 * The copy then speaks to the cell's init alone, over a socket whose other end init has been
 * handed (jail/inside/warm.h).
 */

#define ZYGOTE_MAGIC 0x31475a43u /* "CZG1" */

/* What cloche-init executes when its first message is a zygote's plan. */
#define ZYGOTE_SCRIPT "/etc/cloche/start.py"

/* The stack and the processors that every zygote starts with; a cell with other ones has its script
 * executed instead (both are fixed when an interpreter starts). */
#define ZYGOTE_STACK_BYTES  (8ULL << 20)
#define ZYGOTE_CPU_MS_PER_S 1000
/* On the way to one process in the cell there are three for a moment, and init. */
#define ZYGOTE_PROCESSES_MIN 4

enum zygote_kind {
	ZYGOTE_SMALL, /* the standard library */
	ZYGOTE_DATA,  /* numpy, pandas, matplotlib and their like as well */
	ZYGOTE_KINDS
};

/* jaild to a cloche-init that is to become a zygote: once, in the place of a cell's plan. The
 * descriptors are the filter's sealed memfd and a /proc; the interpreter gets that one as
 * ZYGOTE_PROC_FD, to look at its own memory, and closes it before it loads what scripts import. */
#define ZYGOTE_PLAN_FILTER 0
#define ZYGOTE_PLAN_PROC   1
#define ZYGOTE_PLAN_FDS	   2
#define ZYGOTE_PROC_FD	   4

struct zygote_plan {
	uint32_t magic;
	uint32_t kind; /* enum zygote_kind */
	uint32_t filter_count;
	uint32_t stage_to_fail; /* only used in builds with fault injection */
};

/* jaild to the zygote: one interpreter for the cell of the first descriptor, init's pidfd; the
 * second is the new process's socket to init; then come the cell's v2 leaf (has_leaf) and n_tasks
 * files that a 0 is to be written into (cgroup v1). */
#define ZYGOTE_FD_PIDFD	   0
#define ZYGOTE_FD_SOCKET   1
#define ZYGOTE_FD_CGROUPS  2
#define ZYGOTE_TASKS_MAX   3
#define ZYGOTE_REQUEST_FDS (ZYGOTE_FD_CGROUPS + 1 + ZYGOTE_TASKS_MAX)

struct zygote_request {
	uint32_t magic;
	uint32_t seq;
	uint32_t has_leaf;
	uint32_t n_tasks;
	uint32_t stage_to_fail; /* only used in builds with fault injection */
};

enum zygote_event_kind {
	ZYGOTE_SERVES, /* everything is loaded; `loaded` says what */
	ZYGOTE_ANSWER, /* to request `seq`; error 0: a process is on its way to the cell */
	ZYGOTE_EVENT_MAX
};

/* The zygote to jaild. */
struct zygote_event {
	uint32_t magic;
	uint32_t kind;
	uint32_t seq;
	int32_t error;	    /* a positive errno; the stage is below */
	uint32_t stage;	    /* enum stage */
	uint32_t hot_pages; /* that copies have copied in bulk (src/zygote/hot.h) */
	int32_t lesson;	    /* ZYGOTE_SERVES: a positive errno if it has not learnt which */
	uint64_t loaded;    /* bit i: row i of jail/plan/preload.def has been imported */
};
