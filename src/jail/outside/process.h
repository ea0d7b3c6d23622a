#pragma once

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What jaild's own /proc (proc_fd) tells of a process in a cell. Nothing of it is the process's own
 * words. Return 0 or -errno unless they say otherwise; -ENOENT or -ESRCH: there is no such process
 * any more.
 */

/* proc_pid_stat(5): the fields that somebody here asks for. */
struct process {
	uint64_t flags;	       /* 9: PF_* of the kernel */
	uint64_t threads;      /* 20 */
	uint64_t memory_bytes; /* 23: 0 once it has none */
	uint64_t pending;      /* 31: signals, as a set */
	uint64_t exit_status;  /* 52: as from waitpid(2); 0 to who may not know */
};

int process_read(int proc_fd, pid_t pid, struct process *ret_process);

/* SIGKILL is pending, or it has begun to exit, which takes long while much memory is freed. */
bool process_is_dying(const struct process *process);

/* Whether that is what the process is called in its own pid namespace. */
bool process_is_known_as(int proc_fd, pid_t pid, pid_t pid_within);

/* True when the process has executed its last instruction: it had one thread, and the kernel has
 * taken its memory from it. What is left of its end can neither be stopped nor start anything. Its
 * status, as from waitpid(2), comes from the kernel. Waits for that, busily, at most patience_us.
 * False also when it cannot be known. */
bool process_is_past(int proc_fd, pid_t pid, usec_t patience_us, int *ret_status);
