#include "jail/outside/template.h"

#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"
#include "jail/outside/bind.h"
#include "jail/outside/errand.h"
#include "jail/outside/etc.h"
#include "jail/outside/tmpfs.h"
#include "wire/channel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Made once, by a child in the mount namespace that jaild was born in: folders of the source were
 * opened there, and a folder of another namespace cannot be bound. jaild itself moves to a copy of
 * its own first. The child builds the tree on a fresh tmpfs, makes that its root (pivot_root, the
 * old one detached) and lives until jaild holds a descriptor of its namespace. There is no proc and
 * no sysfs in it: so nobody in a cell can mount one either.
 */

/* The tmpfs of the template itself: folders, links and a few copied files. */
#define TEMPLATE_BYTES	(16ULL * 1024 * 1024)
#define TEMPLATE_INODES 1024

/* A folder that every host has, to attach the new root at. */
#define TEMPLATE_PLACE "/proc"

static const char *const folders[] = { "dev", "dev/shm", "mnt", "mnt/data", "proc", "run",
	"run/cloche", "tmp" };

static const char *const devices[] = { "null", "zero", "full", "random", "urandom" };

static const struct {
	const char *target;
	const char *name;
} links[] = {
	{ "/proc/self/fd", "dev/fd" },
	{ "/proc/self/fd/0", "dev/stdin" },
	{ "/proc/self/fd/1", "dev/stdout" },
	{ "/proc/self/fd/2", "dev/stderr" },
};

/* What comes from the host when there is no image: /usr and the links into it. */
static const char *const host_entries[] = { "usr", "bin", "sbin", "lib", "lib32", "lib64",
	"libx32" };

/* What never comes from an image: made here, or of no use to a script. */
static const char *const left_out[] = { "dev", "proc", "sys", "run", "tmp", "mnt", "etc", "root",
	"boot", "home", "media", "srv", "lost+found" };

static int folders_make(int root_fd)
{
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (mkdirat(root_fd, folders[i], 0755) < 0)
			return -errno;
	}
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		if (symlinkat(links[i].target, root_fd, links[i].name) < 0)
			return -errno;
	}
	return 0;
}

static int devices_bind(int root_fd)
{
	AUTO_CLOSE int dev_fd = -1;

	dev_fd = open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dev_fd < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		AUTO_CLOSE int place_fd = -1;
		char target[32];
		int r = str_format(target, sizeof(target), "dev/%s", devices[i]);

		if (r < 0)
			return r;
		place_fd = openat(root_fd, target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
		if (place_fd < 0)
			return -errno;
		r = bind_device(dev_fd, devices[i], root_fd, target);
		if (r < 0)
			return r;
	}
	return 0;
}

/* One entry of the source's root: a folder is bound, a link copied, the rest left out. */
static int entry_take(int source_fd, const char *name, int root_fd)
{
	char target[256];
	struct stat status;
	ssize_t n;

	if (fstatat(source_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISLNK(status.st_mode)) {
		n = readlinkat(source_fd, name, target, sizeof(target) - 1);
		if (n < 0 || (size_t)n == sizeof(target) - 1)
			return n < 0 ? -errno : -ENAMETOOLONG;
		target[n] = '\0';
		return symlinkat(target, root_fd, name) < 0 ? -errno : 0;
	}
	if (!S_ISDIR(status.st_mode))
		return 0;
	if (mkdirat(root_fd, name, 0755) < 0)
		return -errno;
	return bind_read_only(source_fd, name, root_fd, name);
}

static bool is_left_out(const char *name)
{
	if (name[0] == '.')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++) {
		if (strcmp(name, left_out[i]) == 0)
			return true;
	}
	return false;
}

static int image_take(int source_fd, int root_fd)
{
	int fd = openat(source_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!dir) {
		r = -errno;
		(void)fd_close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(dir))) {
		if (!is_left_out(entry->d_name))
			r = entry_take(source_fd, entry->d_name, root_fd);
	}
	(void)closedir(dir);
	return r;
}

static int system_take(const struct template_source *source, int root_fd)
{
	if (source->is_image)
		return image_take(source->root_fd, root_fd);
	for (size_t i = 0; i < ARRAY_SIZE(host_entries); i++) {
		int r = entry_take(source->root_fd, host_entries[i], root_fd);

		if (r < 0)
			return r;
	}
	return 0;
}

static int file_write(const struct template_file *file, int root_fd)
{
	AUTO_CLOSE int fd = -1;
	char path[64];
	const char *suffix = strchr(file->name, '.') ? "" : ".py";
	int r = str_format(path, sizeof(path), "etc/cloche/%s%s", file->name, suffix);

	if (r < 0)
		return r;
	fd = openat(root_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	return fd < 0 ? -errno : fd_write_full(fd, file->text, file->size);
}

static int files_write(const struct template_source *source, int root_fd)
{
	if (mkdirat(root_fd, "etc/cloche", 0755) < 0)
		return -errno;
	for (size_t i = 0; i < source->n_files; i++) {
		int r = file_write(&source->files[i], root_fd);

		if (r < 0)
			return r;
	}
	return 0;
}

/* /var/tmp is where some programs insist on writing. */
static int var_make(int root_fd)
{
	if (mkdirat(root_fd, "var", 0755) < 0)
		return errno == EEXIST ? 0 : -errno;
	return symlinkat("/tmp", root_fd, "var/tmp") < 0 ? -errno : 0;
}

static int tree_fill(const struct template_source *source, int root_fd)
{
	int r = folders_make(root_fd);

	if (r == 0)
		r = system_take(source, root_fd);
	if (r == 0)
		r = etc_make(root_fd, source->root_fd);
	if (r == 0)
		r = files_write(source, root_fd);
	if (r == 0)
		r = var_make(root_fd);
	if (r == 0)
		r = devices_bind(root_fd);
	return r;
}

/* The binds have their attributes already; this is for the tmpfs in between. */
static int root_make_read_only(int root_fd)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					       MOUNT_ATTR_NODEV };

	if (mount_setattr(root_fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return -errno;
	return 0;
}

static int template_build(const struct template_source *source)
{
	struct tmpfs_options options = {
		.size_bytes = TEMPLATE_BYTES, .inodes = TEMPLATE_INODES, .owner = 0, .mode = "0755"
	};
	AUTO_CLOSE int root_fd = -1;
	int r;

	umask(022);
	r = tmpfs_make(&options, &root_fd);
	if (r < 0)
		return r;
	if (move_mount(root_fd, "", AT_FDCWD, TEMPLATE_PLACE, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	r = tree_fill(source, root_fd);
	if (r == 0)
		r = root_make_read_only(root_fd);
	return r < 0 ? r : bind_pivot(root_fd);
}

static void maker_run(const struct template_source *source, int socket)
{
	char byte;

	/* pivot_root moves everybody whose root it is: jaild has to be out of here first */
	if (read(socket, &byte, 1) != 1)
		_exit(1);
	errand_tell(socket, template_build(source), -1);
	/* until jaild has opened our namespace and closes its end */
	(void)!read(socket, &byte, 1);
	_exit(0);
}

static int namespace_open(int proc_fd, pid_t pid, int *ret_ns_fd)
{
	char path[32];
	int fd;

	(void)str_format(path, sizeof(path), "%d/ns/mnt", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_ns_fd = fd;
	return 0;
}

int template_make(const struct template_source *source, int proc_fd, int *ret_ns_fd)
{
	struct errand maker;
	int r = errand_start(&maker);

	if (r < 0)
		return r;
	if (maker.pid == 0)
		maker_run(source, maker.socket);
	r = unshare(CLONE_NEWNS) < 0 ? -errno : channel_send(maker.socket, "", 1, NULL, 0);
	if (r == 0)
		r = errand_result(&maker, NULL);
	if (r == 0)
		r = namespace_open(proc_fd, maker.pid, ret_ns_fd);
	errand_end(&maker);
	return r;
}
