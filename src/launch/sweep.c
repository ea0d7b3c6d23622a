#include "launch/sweep.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * A group's tree is at most three levels deep (instance, session, cell), all made by us; so the
 * walk is bounded by SWEEP_DEPTH and not by what it finds.
 */

#define SWEEP_DEPTH   4
#define SWEEP_WAIT_US (2 * 1000 * 1000)

/* Signals every process of one group, by number: only for v1 trees, where nothing better exists and
 * where the processes' own v2 group has been killed as a whole before. One read's worth at a time:
 * the next pass sees who is left. */
static bool group_kill_each(int group_fd)
{
	AUTO_CLOSE int fd = openat(group_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char list[8192];
	struct str text, line;
	uint64_t pid;
	bool any = false;
	ssize_t n;

	n = fd < 0 ? 0 : read(fd, list, sizeof(list));
	text = (struct str){ .p = list, .n = n > 0 ? (size_t)n : 0 };
	/* a number without its newline may be cut */
	while (str_split_once(text, '\n', &line, &text)) {
		if (str_to_u64(line, INT32_MAX, &pid) == 0 && pid > 0) {
			(void)kill((pid_t)pid, SIGKILL);
			any = true;
		}
	}
	return any;
}

/* One pass over the group and what is below it: kills, then removes what is empty. True while
 * something was still alive. depth ends the recursion, not the data. */
static bool group_pass(int parent_fd, const char *name, int depth)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool is_alive = false;

	if (!dir) {
		(void)fd_close(fd);
		return false;
	}
	if (fd_write_file(fd, "cgroup.kill", "1") < 0)
		is_alive = group_kill_each(fd);
	while (depth > 0 && (entry = readdir(dir))) {
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			is_alive |= group_pass(fd, entry->d_name, depth - 1);
	}
	(void)closedir(dir);
	if (unlinkat(parent_fd, name, AT_REMOVEDIR) < 0 && errno == EBUSY)
		is_alive = true;
	return is_alive;
}

void sweep_group(int base_fd, const char *name)
{
	usec_t deadline_us = clock_now_us() + SWEEP_WAIT_US;
	struct timespec pause = { .tv_nsec = 2 * 1000 * 1000 };

	while (group_pass(base_fd, name, SWEEP_DEPTH) && clock_now_us() < deadline_us)
		(void)nanosleep(&pause, NULL);
}

/* Takes the lock of a group whose launcher is gone. Returns the descriptor that holds it, until the
 * group has been removed: whoever makes a group of this name now must not get the lock. -1 if it is
 * in use. */
static int dead_group_lock(int base_fd, const char *name)
{
	AUTO_CLOSE int fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -1;
	return TAKE_FD(fd);
}

/* Exactly as delegate.c names them: what an administrator has called cloche-something is not ours
 * to kill. */
static bool is_instance(struct str name)
{
	const struct str prefix = STR("cloche-");

	if (!str_starts(name, prefix) || name.n != prefix.n + 8)
		return false;
	for (size_t i = prefix.n; i < name.n; i++) {
		if (!strchr("0123456789abcdef", name.p[i]))
			return false;
	}
	return true;
}

void sweep_dead(int base_fd, bool (*visit)(void *ctx, const char *name), void *ctx)
{
	int fd = openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		(void)fd_close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		AUTO_CLOSE int lock_fd = -1;

		if (is_instance(str_from(entry->d_name)))
			lock_fd = dead_group_lock(base_fd, entry->d_name);
		if (lock_fd < 0)
			continue;
		if (visit(ctx, entry->d_name))
			sweep_group(base_fd, entry->d_name);
	}
	(void)closedir(dir);
}
