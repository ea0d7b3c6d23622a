#pragma once

#include "wire/limits.h"

#include <stdint.h>

/*
 * The plan of one cell: everything that cloche-init has to know, in one flat struct that jaild
 * sends it with the descriptors of enum plan_fd. And the messages that init sends back. Both ends
 * are of one build; the check is there because init dies rather than go on with a plan that makes
 * no sense.
 */

#define PLAN_MAGIC   0x4e414c50u /* "PLAN" */
#define PLAN_VERSION 1

/* Ids inside of a cell. */
#define CELL_INIT_ID   0
#define CELL_SCRIPT_ID 65534

/* Where things lie in a cell. */
#define CELL_HOME	 "/mnt/data"
#define CELL_TMP	 "/tmp"
#define CELL_SHM	 "/dev/shm"
#define CELL_RUN	 "/run/cloche"
#define CELL_PROC	 "/proc"
#define CELL_HOSTNAME	 "cloche"
#define CELL_BOOTSTRAP	 "/etc/cloche/bootstrap.py"
#define CELL_PYTHON	 "/usr/bin/python3"
#define CELL_BASH	 "/bin/bash"
#define CELL_CODE_PYTHON "/run/cloche/main.py"
#define CELL_CODE_BASH	 "/run/cloche/main.sh"

/* Instructions of the script's filter at most: the kernel's own maximum, BPF_MAXINSNS. */
#define PLAN_FILTER_MAX 4096

/* Descriptor 3 of init is the control socket; the plan message carries the others. */
#define INIT_CONTROL_FD 3

enum plan_fd {
	PLAN_FD_HOME,	  /* detached clone of the home's mount */
	PLAN_FD_PROC_SYS, /* sys/user of a /proc of jaild, to forbid namespaces with */
	PLAN_FD_FILTER,	  /* sealed memfd with the whole BPF program, for zygotes' copies */
	PLAN_FD_PROC,	  /* detached /proc of the cell, only with limits.own_proc */
	PLAN_FDS_MAX
};

struct jail_plan {
	uint32_t magic;
	uint32_t version;
	struct wire_limits limits;
	uint64_t cpus; /* processors that the cell may use, as a mask of the first 64; 0: all */
	uint32_t landlock_abi;	/* what jaild found, at least 1 */
	uint32_t filter_count;	/* instructions in PLAN_FD_FILTER, at most PLAN_FILTER_MAX */
	uint32_t stage_to_fail; /* only used in builds with fault injection */
	uint32_t is_quiet;	/* the run is right behind: neither INIT_BORN nor INIT_READY */
};

/* Checks a plan received with n_fds descriptors. Returns 0 or -EBADMSG. */
int plan_check(const struct jail_plan *plan, uint64_t size, uint64_t n_fds);

/* jaild to init, after the plan: an interpreter is on its way and will speak over the descriptor
 * that comes along, in place of an earlier one (jail/inside/warm.h); or the one run, with the
 * descriptors of enum wire_run_fd. */
enum jail_word {
	JAIL_RUN,
	JAIL_WARM
};

struct jail_run {
	uint32_t magic;
	uint32_t word;	  /* enum jail_word */
	uint32_t is_cold; /* JAIL_RUN: execute it, whatever waits */
	uint32_t reserved;
	uint64_t watchdog_ms; /* JAIL_RUN: init ends the cell by itself after this */
};

enum init_event_kind {
	INIT_BORN, /* has its ids; an interpreter may come */
	INIT_READY,
	INIT_STARTED, /* status: 1 if the script is a copy of a zygote, 0 if it was executed; pid */
	INIT_EXITED,
	INIT_FAILED,
	INIT_DONE, /* a call to a live interpreter is over; status is its exit status, 0 to 255 */
	INIT_EVENT_MAX
};

/* init to jaild. */
struct init_event {
	uint32_t kind;
	uint32_t stage;		/* INIT_FAILED: enum stage */
	int32_t error;		/* INIT_FAILED: a positive errno */
	int32_t status;		/* INIT_EXITED: as from waitpid(2) */
	uint64_t cpu_us;	/* INIT_EXITED: user and system time of all that were waited for */
	uint64_t max_rss_bytes; /* INIT_EXITED: largest resident set of one process */
	uint64_t ended_us;	/* INIT_EXITED: when, by the monotonic clock */
	int32_t pid;		/* INIT_STARTED: of the script, in the cell's pid namespace */
	uint32_t reserved;
};
