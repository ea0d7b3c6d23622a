#include "jail/outside/process.h"

#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Theory of operation of process_is_past. do_exit() of the kernel marks a process (PF_EXITING),
 * notes its status, takes its memory away, and only then frees that memory, which is most of an
 * end; its files and the word to its parent come last. From the mark on none of its instructions
 * runs, and what it was in the middle of has returned. The status is told to who may look into the
 * process; of one without memory that is who owns its user namespace, as jaild does a cell's. That
 * it is told to us is asked apart, since 0 is a status as well; and it is read after the memory was
 * seen to be gone, since before that others count as well.
 */

#define FLAG_EXITING  0x00000004u
#define FLAG_SIGNALED 0x00000400u

enum field {
	FIELD_FLAGS = 9,
	FIELD_THREADS = 20,
	FIELD_MEMORY = 23,
	FIELD_PENDING = 31,
	FIELD_EXIT_STATUS = 52
};

static uint64_t *place_of(struct process *process, int field)
{
	switch (field) {
	case FIELD_FLAGS:
		return &process->flags;
	case FIELD_THREADS:
		return &process->threads;
	case FIELD_MEMORY:
		return &process->memory_bytes;
	case FIELD_PENDING:
		return &process->pending;
	case FIELD_EXIT_STATUS:
		return &process->exit_status;
	default:
		return NULL;
	}
}

/* The name, field 2, may hold anything but ends with the last bracket. */
static int fields_parse(const char *text, size_t size, struct process *ret_process)
{
	const char *name_end = memrchr(text, ')', size);
	struct str rest, field;

	if (!name_end)
		return -EBADMSG;
	rest = (struct str){ .p = name_end, .n = (size_t)(text + size - name_end) };
	for (int number = 2; number <= FIELD_EXIT_STATUS; number++) {
		uint64_t *place = place_of(ret_process, number);

		if (!str_split_once(rest, number < FIELD_EXIT_STATUS ? ' ' : '\n', &field, &rest) ||
			(place && str_to_u64(field, UINT64_MAX, place) < 0))
			return -EBADMSG;
	}
	return 0;
}

static int stat_open(int proc_fd, pid_t pid)
{
	char path[32];
	int fd;

	(void)str_format(path, sizeof(path), "%d/stat", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int stat_read(int fd, struct process *ret_process)
{
	char text[1024];
	ssize_t n = pread(fd, text, sizeof(text), 0);

	*ret_process = (struct process){ 0 };
	return n < 0 ? -errno : fields_parse(text, (size_t)n, ret_process);
}

int process_read(int proc_fd, pid_t pid, struct process *ret_process)
{
	AUTO_CLOSE int fd = stat_open(proc_fd, pid);

	return fd < 0 ? fd : stat_read(fd, ret_process);
}

bool process_is_dying(const struct process *process)
{
	return (process->flags & (FLAG_EXITING | FLAG_SIGNALED)) ||
	       (process->pending & (1u << (SIGKILL - 1)));
}

/* NSpid of proc_pid_status(5): what it is called in each namespace, its own last. */
bool process_is_known_as(int proc_fd, pid_t pid, pid_t pid_within)
{
	char path[32], text[4096];
	struct str line, rest;
	uint64_t number = 0;
	const char *at;

	(void)str_format(path, sizeof(path), "%d/status", pid);
	if (fd_read_file(proc_fd, path, text, sizeof(text)) < 0)
		return false;
	at = strstr(text, "\nNSpid:");
	if (!at)
		return false;
	(void)str_split_once(str_from(at + 1), '\n', &line, &rest);
	while (str_split_once(line, '\t', &(struct str){ 0 }, &rest))
		line = rest;
	return str_to_u64(line, INT32_MAX, &number) == 0 && number == (uint64_t)pid_within;
}

/* Whether the kernel would tell us its status: the same right is asked for a look at this. */
static bool may_know_status(int proc_fd, pid_t pid)
{
	char path[32], text[64];

	(void)str_format(path, sizeof(path), "%d/ns/user", pid);
	return readlinkat(proc_fd, path, text, sizeof(text)) > 0;
}

static bool is_without_memory(const struct process *process)
{
	return (process->flags & FLAG_EXITING) && process->threads == 1 &&
	       process->memory_bytes == 0;
}

bool process_is_past(int proc_fd, pid_t pid, usec_t patience_us, int *ret_status)
{
	AUTO_CLOSE int fd = stat_open(proc_fd, pid);
	usec_t until_us = clock_now_us() + patience_us;
	struct process process;
	int r;

	if (fd < 0)
		return false;
	while ((r = stat_read(fd, &process)) == 0 && !is_without_memory(&process) &&
		clock_now_us() < until_us)
		(void)sched_yield();
	if (r < 0 || !is_without_memory(&process) || !may_know_status(proc_fd, pid) ||
		stat_read(fd, &process) < 0)
		return false;
	*ret_status = (int)process.exit_status;
	return true;
}
