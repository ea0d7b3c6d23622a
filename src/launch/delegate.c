#include "launch/delegate.h"

#include "base/fd.h"
#include "base/str.h"
#include "jail/cgroup/cgroup_file.h"
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

#define CONTROLLERS "+memory +pids +cpu"

/* Starts at once make and sweep groups at once; each attempt has another name. */
#define ATTEMPTS_MAX 20

/* The trees in use. On v1 our own group may lie in another place in each of them, so two instances
 * can have one of these in common and not the others. */
static size_t places_get(const struct cgroup_host *host, const char *places[DELEGATE_TREES_MAX])
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

static bool others_sweep(void *ctx, const char *name)
{
	const struct cgroup_host *host = ctx;
	const char *places[DELEGATE_TREES_MAX];
	size_t n = places_get(host, places);

	/* the v2 tree is the last, and the one that can kill at once */
	for (size_t i = n; i-- > 1;) {
		AUTO_CLOSE int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			sweep_group(fd, name);
	}
	return true;
}

/* Without a lock in this tree, and unknown in the first: a rest of somebody's who has gone, unless
 * something still lives in it. */
static bool is_rest(void *ctx, const char *name)
{
	const struct cgroup_host *host = ctx;
	AUTO_CLOSE int fd = open(host->unified, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || cgroup_leaf_is_empty(fd, name) != 0;
}

struct delegation delegation_none(struct cgroup_host *host)
{
	return (struct delegation){ .host = host, .lock_fds = { -1, -1, -1, -1 } };
}

void delegate_sweep(struct cgroup_host *host)
{
	const char *places[DELEGATE_TREES_MAX];
	size_t n = places_get(host, places);

	for (size_t i = 0; i < n; i++) {
		AUTO_CLOSE int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			sweep_dead(fd, i == 0 ? others_sweep : is_rest, host);
	}
}

/* Gives the folder and the files that its owner needs; those which this tree lacks are skipped. */
static int folder_give(int base_fd, const char *name, const struct delegate_owner *owner)
{
	static const char *const files[] = { "cgroup.procs", "tasks", "cgroup.threads",
		"cgroup.subtree_control", "cgroup.kill" };
	char path[DELEGATE_NAME_SIZE + 64];

	if (owner->uid == geteuid())
		return 0;
	if (fchownat(base_fd, name, owner->uid, owner->gid, 0) < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)str_format(path, sizeof(path), "%s/%s", name, files[i]);
		if (fchownat(base_fd, path, owner->uid, owner->gid, 0) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
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
	int r = fd_write_file(base_fd, "cgroup.subtree_control", CONTROLLERS);

	if (r != -EBUSY)
		return r;
	r = group_leave(base_fd);
	return r < 0 ? r : fd_write_file(base_fd, "cgroup.subtree_control", CONTROLLERS);
}

static int name_make(char *ret_name)
{
	uint32_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	return str_format(ret_name, DELEGATE_NAME_SIZE, "cloche-%08x", number);
}

/* Takes the lock of a group just made. A sweep of another instance may have come between: then the
 * group is locked by it or gone, and this one has to be made anew. */
static int lock_take(int base_fd, const char *name, int *ret_fd)
{
	AUTO_CLOSE int fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat locked, named;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	if (fstat(fd, &locked) < 0 || fstatat(base_fd, name, &named, 0) < 0)
		return -errno;
	if (locked.st_ino != named.st_ino)
		return -ENOENT;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* The group in one tree, locked before anything else happens to it. The unified tree also gets
 * daemon/, where jaild itself lives. */
static int place_make(struct delegation *made, size_t tree, const char *place,
	const struct delegate_owner *owner, int *ret_fd)
{
	AUTO_CLOSE int base_fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_v2 = made->host->backend == WIRE_CGROUP_V2;
	int r = 0;

	if (base_fd < 0)
		return -errno;
	if (is_v2)
		r = controllers_give(base_fd);
	if (r == 0 && mkdirat(base_fd, made->name, 0755) < 0)
		r = -errno;
	if (r == 0)
		r = lock_take(base_fd, made->name, &made->lock_fds[tree]);
	if (r == 0)
		r = folder_give(base_fd, made->name, owner);
	if (r < 0)
		return r;
	*ret_fd = openat(base_fd, made->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0)
		return -errno;
	if (place != made->host->unified)
		return 0;
	if (mkdirat(*ret_fd, "daemon", 0755) < 0)
		return -errno;
	r = folder_give(*ret_fd, "daemon", owner);
	return r < 0 || !is_v2 ? r : fd_write_file(*ret_fd, "cgroup.subtree_control", CONTROLLERS);
}

static int group_make(struct cgroup_host *host, const struct delegate_owner *owner,
	struct delegation *made, struct cgroup_root *root)
{
	const char *places[DELEGATE_TREES_MAX];
	size_t n = places_get(host, places);
	int r = name_make(made->name);

	for (size_t i = 0; i < n && r == 0; i++) {
		int *fd = places[i] == host->memory ? &root->memory_fd
			  : places[i] == host->pids ? &root->pids_fd
			  : places[i] == host->cpu  ? &root->cpu_fd
						    : &root->unified_fd;

		r = place_make(made, i, places[i], owner, fd);
	}
	return r;
}

int delegate_make(struct cgroup_host *host, const struct delegate_owner *owner,
	struct delegation *ret_delegation, struct cgroup_root *ret_root)
{
	int r = -EAGAIN;

	for (int i = 0; i < ATTEMPTS_MAX && (r == -EAGAIN || r == -ENOENT || r == -ENODEV); i++) {
		struct cgroup_root root = { host->backend, -1, -1, -1, -1 };
		struct delegation made = delegation_none(host);

		r = group_make(host, owner, &made, &root);
		*ret_delegation = made;
		*ret_root = root;
		if (r == 0)
			break;
		delegate_remove(&made);
		delegate_root_close(ret_root);
		ret_delegation->name[0] = '\0';
		delegate_unlock(ret_delegation);
	}
	return r;
}

void delegate_unlock(struct delegation *delegation)
{
	for (size_t i = 0; i < DELEGATE_TREES_MAX; i++)
		delegation->lock_fds[i] = fd_close(delegation->lock_fds[i]);
}

void delegate_root_close(struct cgroup_root *root)
{
	root->unified_fd = fd_close(root->unified_fd);
	root->memory_fd = fd_close(root->memory_fd);
	root->pids_fd = fd_close(root->pids_fd);
	root->cpu_fd = fd_close(root->cpu_fd);
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
	const char *places[DELEGATE_TREES_MAX];
	size_t n = places_get(delegation->host, places);

	if (!delegation->name[0])
		return;
	for (size_t i = n; i-- > 0;) {
		AUTO_CLOSE int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			sweep_group(fd, delegation->name);
	}
}
