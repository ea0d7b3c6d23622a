#include "launch/delegate.h"

#include "base/fd.h"
#include "base/str.h"
#include "jail/outside/cgroup_file.h"
#include "launch/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * On v2 a group that gives controllers to its children may not hold processes itself, except the
 * root of the whole tree. Inside a systemd scope of our own we therefore move ourselves (and the
 * program that started us, if it lives there too) into a child of it first. If somebody else lives
 * there too, the kernel says EBUSY, and so do we.
 */

#define PLACES_MAX 4

/* The trees in use; the first one carries the lock. */
static size_t places_get(const struct cgroup_host *host, const char *places[PLACES_MAX])
{
	size_t n = 0;

	if (host->backend == WIRE_CGROUP_V1) {
		places[n++] = host->memory;
		places[n++] = host->pids;
		places[n++] = host->cpu;
	}
	if (host->backend != WIRE_CGROUP_NONE && host->unified[0])
		places[n++] = host->unified;
	return n;
}

static void others_sweep(void *ctx, const char *name)
{
	const struct cgroup_host *host = ctx;
	const char *places[PLACES_MAX];
	size_t n = places_get(host, places);

	/* the v2 tree is the last, and the one that can kill at once */
	for (size_t i = n; i-- > 1;) {
		AUTO_CLOSE int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			sweep_group(fd, name);
	}
}

void delegate_sweep(struct cgroup_host *host)
{
	const char *places[PLACES_MAX];
	AUTO_CLOSE int fd = -1;

	if (places_get(host, places) == 0)
		return;
	fd = open(places[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		sweep_dead(fd, others_sweep, host);
}

/* Gives the folder and the files that its owner needs; those which this tree lacks are skipped. */
static int folder_give(int base_fd, const char *name, const struct delegate_owner *owner)
{
	static const char *const files[] = { "cgroup.procs", "tasks", "cgroup.threads",
		"cgroup.subtree_control", "cgroup.kill" };
	char path[DELEGATE_NAME_SIZE + 64];

	if (fchownat(base_fd, name, owner->uid, owner->gid, 0) < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)str_format(path, sizeof(path), "%s/%s", name, files[i]);
		if (fchownat(base_fd, path, owner->uid, owner->gid, 0) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

static int folder_make(int base_fd, const char *name, const struct delegate_owner *owner)
{
	if (mkdirat(base_fd, name, 0755) < 0)
		return -errno;
	return owner->uid == geteuid() ? 0 : folder_give(base_fd, name, owner);
}

/* True if the program that started us is in our own group. */
static bool parent_is_here(void)
{
	char own[1024], parent[1024], path[32];

	(void)str_format(path, sizeof(path), "/proc/%d/cgroup", getppid());
	return fd_read_file(AT_FDCWD, "/proc/self/cgroup", own, sizeof(own)) > 0 &&
	       fd_read_file(AT_FDCWD, path, parent, sizeof(parent)) > 0 && strcmp(own, parent) == 0;
}

/* Out of our own group, so that it may give controllers to its children. */
static int group_leave(int base_fd)
{
	static const char place[] = CGROUP_OUTSIDE "/cgroup.procs";
	bool is_with_parent = parent_is_here();
	int r;

	if (mkdirat(base_fd, CGROUP_OUTSIDE, 0755) < 0 && errno != EEXIST)
		return -errno;
	r = cgroup_file_set(base_fd, place, (uint64_t)getpid());
	if (r == 0 && is_with_parent)
		r = cgroup_file_set(base_fd, place, (uint64_t)getppid());
	return r;
}

static int controllers_give(int base_fd)
{
	static const char wanted[] = "+memory +pids +cpu";
	int r = fd_write_file(base_fd, "cgroup.subtree_control", wanted);

	if (r != -EBUSY)
		return r;
	r = group_leave(base_fd);
	return r < 0 ? r : fd_write_file(base_fd, "cgroup.subtree_control", wanted);
}

static int name_make(char *ret_name)
{
	uint32_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	return str_format(ret_name, DELEGATE_NAME_SIZE, "cloche-%08x", number);
}

/* The group in one tree. The unified tree also gets daemon/, where jaild itself lives. */
static int place_make(const struct cgroup_host *host, const char *place, const char *name,
	const struct delegate_owner *owner, int *ret_fd)
{
	AUTO_CLOSE int base_fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = 0, fd;

	if (base_fd < 0)
		return -errno;
	if (host->backend == WIRE_CGROUP_V2)
		r = controllers_give(base_fd);
	if (r == 0)
		r = folder_make(base_fd, name, owner);
	if (r < 0)
		return r;
	fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	if (place != host->unified)
		return 0;
	r = folder_make(fd, "daemon", owner);
	if (r == 0 && host->backend == WIRE_CGROUP_V2)
		r = fd_write_file(fd, "cgroup.subtree_control", "+memory +pids +cpu");
	return r;
}

static int lock_take(const char *place, const char *name, int *ret_fd)
{
	char path[PATH_MAX + DELEGATE_NAME_SIZE];
	int fd;

	(void)str_format(path, sizeof(path), "%s/%s", place, name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

int delegate_make(struct cgroup_host *host, const struct delegate_owner *owner,
	struct delegation *ret_delegation, struct cgroup_root *ret_root)
{
	struct cgroup_root root = { host->backend, -1, -1, -1, -1 };
	struct delegation made = { .host = host, .lock_fd = -1 };
	const char *places[PLACES_MAX];
	size_t n = places_get(host, places);
	int r = name_make(made.name);

	for (size_t i = 0; i < n && r == 0; i++) {
		int *fd = places[i] == host->memory ? &root.memory_fd
			  : places[i] == host->pids ? &root.pids_fd
			  : places[i] == host->cpu  ? &root.cpu_fd
						    : &root.unified_fd;

		r = place_make(host, places[i], made.name, owner, fd);
		if (r == 0 && i == 0)
			r = lock_take(places[0], made.name, &made.lock_fd);
	}
	*ret_delegation = made;
	*ret_root = root;
	return r;
}

int delegate_attach(const struct delegation *delegation, pid_t pid)
{
	const struct cgroup_host *host = delegation->host;
	AUTO_CLOSE int base_fd = -1;
	char path[DELEGATE_NAME_SIZE + 32];

	if (host->backend == WIRE_CGROUP_NONE || !host->unified[0])
		return 0;
	base_fd = open(host->unified, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base_fd < 0)
		return -errno;
	(void)str_format(path, sizeof(path), "%s/daemon/cgroup.procs", delegation->name);
	return cgroup_file_set(base_fd, path, (uint64_t)pid);
}

void delegate_remove(const struct delegation *delegation)
{
	const char *places[PLACES_MAX];
	size_t n = places_get(delegation->host, places);

	if (!delegation->name[0])
		return;
	for (size_t i = n; i-- > 0;) {
		AUTO_CLOSE int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			sweep_group(fd, delegation->name);
	}
}
