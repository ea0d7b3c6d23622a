#include "walker/walker.h"

#include "base/alloc.h"
#include "base/beneath.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"
#include "extent/extent.h"
#include "jail/outside/caps.h"
#include "wire/channel.h"
#include "wire/listing.h"
#include "wire/message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Breadth first over the paths of folders, each opened anew from the home's descriptor by openat2:
 * no recursion, no descriptors piling up, and nothing that a script renames meanwhile leads out.
 * What does not fit (entries, bytes, time, paths over PATH_MAX) makes the listing "truncated".
 */

#define WALK_LIMIT_US	  (1000 * 1000ULL)
#define FOLDERS_BYTES_MAX (16u * 1024 * 1024)
/* tmpfs times move in steps of one tick, 10 ms at most (CONFIG_HZ=100). */
#define SETTLE_LIMIT_MS 50

struct walker {
	int home_fd;
	struct extent_hash *hash; /* NULL: contents are not asked for */
	bool do_targets;
	usec_t deadline_us;
	struct buf folders; /* paths yet to read, NUL-ended each */
	size_t next_folder;
	struct buf records;
	int64_t newest_ns; /* largest ctime seen */
	struct walker_result result;
};

static enum listing_kind kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return LISTING_FILE;
	case S_IFDIR:
		return LISTING_FOLDER;
	case S_IFLNK:
		return LISTING_LINK;
	default:
		return LISTING_OTHER;
	}
}

/* Adds the data of an open file of size bytes. False: the time was over, or it changed. */
static bool content_add(const struct walker *walker, int fd, uint64_t size)
{
	static char chunk[256 * 1024];
	struct extent extent;
	uint64_t at = 0;
	int r;

	while ((r = extent_next(fd, at, size, &extent)) > 0) {
		extent_hash_begin(walker->hash, extent.offset);
		for (at = extent.offset; at < extent.offset + extent.size;) {
			ssize_t n = pread(fd, chunk,
				MIN(sizeof(chunk), extent.offset + extent.size - at), (off_t)at);

			if (n <= 0 || clock_now_us() > walker->deadline_us)
				return false;
			extent_hash_add(walker->hash, chunk, (size_t)n);
			at += (uint64_t)n;
		}
	}
	return r == 0;
}

/* The content's hash: a write through mmap changes no time on tmpfs (decision 19). */
static void hash_add(struct walker *walker, const char *path, struct listing_entry *entry)
{
	AUTO_CLOSE int fd = -1;
	uint64_t hash[2];

	if (beneath_open_regular(walker->home_fd, path, &fd) < 0)
		return;
	entry->is_hashed = content_add(walker, fd, entry->size_bytes);
	extent_hash_end(walker->hash, entry->size_bytes, hash);
	if (entry->is_hashed)
		memcpy(entry->hash, hash, sizeof(entry->hash));
}

/* An entry of the listing, with where it points to ("" for what is no link). */
static void entry_add(
	struct walker *walker, const char *path, const struct stat *status, const char *target)
{
	static const char padding[8];
	size_t size = strlen(path), target_size = strlen(target);
	struct listing_entry entry = { .record_size =
					       (uint32_t)listing_record_size(size + target_size),
		.path_size = (uint16_t)size,
		.kind = (uint8_t)kind_of(status->st_mode),
		.mode = status->st_mode & 07777,
		.links = (uint32_t)status->st_nlink,
		.size_bytes = (uint64_t)status->st_size,
		.inode = status->st_ino,
		.mtime_ns = clock_to_ns(&status->st_mtim),
		.ctime_ns = clock_to_ns(&status->st_ctim),
		.target_size = (uint32_t)target_size };

	if (entry.ctime_ns > walker->newest_ns)
		walker->newest_ns = entry.ctime_ns;
	/* the whole record or nothing of it: a part would make the whole listing unreadable */
	if (walker->result.entries >= LISTING_ENTRIES_MAX ||
		entry.record_size > walker->records.max - walker->records.len) {
		walker->result.cut |= LISTING_CUT_ROOM;
		return;
	}
	if (walker->hash && entry.kind == LISTING_FILE)
		hash_add(walker, path, &entry);
	(void)buf_add(&walker->records, &entry, sizeof(entry));
	(void)buf_add(&walker->records, path, size);
	(void)buf_add(&walker->records, target, target_size);
	(void)buf_add(
		&walker->records, padding, entry.record_size - sizeof(entry) - size - target_size);
	walker->result.entries++;
}

static void entry_visit(struct walker *walker, int folder_fd, const char *folder, const char *name)
{
	char path[BENEATH_PATH_MAX], target[LISTING_TARGET_MAX + 1] = "";
	struct stat status;
	ssize_t n;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	if (str_format(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", name) < 0) {
		walker->result.cut |= LISTING_CUT_PATH;
		return;
	}
	if (fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return; /* gone meanwhile */
	if (walker->do_targets && S_ISLNK(status.st_mode)) {
		n = readlinkat(folder_fd, name, target, sizeof(target) - 1);
		target[MAX(n, (ssize_t)0)] = '\0';
	}
	entry_add(walker, path, &status, target);
	if (S_ISDIR(status.st_mode) && buf_add(&walker->folders, path, strlen(path) + 1) < 0)
		walker->result.cut |= LISTING_CUT_ROOM;
}

/* Nothing more can be listed. */
static bool is_over(const struct walker *walker)
{
	return (walker->result.cut & (LISTING_CUT_ROOM | LISTING_CUT_TIME)) != 0;
}

static void folder_read(struct walker *walker, const char *folder)
{
	int fd = beneath_open(
		walker->home_fd, *folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		(void)fd_close(fd);
		return;
	}
	while (!is_over(walker) && (entry = readdir(dir))) {
		entry_visit(walker, dirfd(dir), folder, entry->d_name);
		if (clock_now_us() > walker->deadline_us)
			walker->result.cut |= LISTING_CUT_TIME;
	}
	(void)closedir(dir);
}

static void home_walk(struct walker *walker)
{
	(void)buf_add(&walker->folders, "", 1);
	while (walker->next_folder < walker->folders.len && !is_over(walker)) {
		/* a copy: the buffer moves while it grows */
		AUTO_FREE char *folder = xstrdup(walker->folders.data + walker->next_folder);

		walker->next_folder += strlen(folder) + 1;
		folder_read(walker, folder);
	}
}

/* Waits until the file system's clock has left the tick of the newest change, so that a later one
 * must carry a later time: git's "racy" rule, paid once. */
static void times_settle(const struct walker *walker)
{
	struct timespec now, pause = { .tv_nsec = 500 * 1000 };

	for (int i = 0; i < 2 * SETTLE_LIMIT_MS; i++) {
		if (clock_gettime(CLOCK_REALTIME_COARSE, &now) < 0 ||
			clock_to_ns(&now) > walker->newest_ns)
			return;
		(void)nanosleep(&pause, NULL);
	}
}

/* Only reading, of files whatever their mode; a listing larger than its maximum is impossible. */
static int rights_drop(void)
{
	struct rlimit limit = { LISTING_SIZE_MAX + 4096, LISTING_SIZE_MAX + 4096 };

	(void)prctl(PR_SET_NAME, "cloche-walker", 0, 0, 0);
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		return -errno;
	return caps_keep_only(1ULL << CAP_DAC_READ_SEARCH);
}

/* The home becomes 0 and the listing 1; 2 is the log, and there is nothing else. */
static int fds_take(int home_fd, int listing_fd)
{
	if (dup2(home_fd, 0) < 0 || dup2(listing_fd, 1) < 0 || close_range(3, ~0U, 0) < 0)
		return -errno;
	return 0;
}

__attribute__((noreturn)) static void walk(const struct walker_request *request)
{
	struct walker walker = { .home_fd = 0,
		.hash = request->flags & WIRE_LIST_HASH ? extent_hash_new(&request->hash_key)
							: NULL,
		.do_targets = request->flags & WIRE_LIST_TARGETS,
		.deadline_us = clock_now_us() + WALK_LIMIT_US };

	buf_init(&walker.folders, FOLDERS_BYTES_MAX);
	buf_init(&walker.records, LISTING_SIZE_MAX);
	home_walk(&walker);
	if (request->flags & WIRE_LIST_SETTLE)
		times_settle(&walker);
	if (fd_write_full(1, walker.records.data, walker.records.len) < 0 ||
		fd_write_full(1, &walker.result, sizeof(walker.result)) < 0)
		_exit(1);
	_exit(0);
}

void walker_run(int home_fd, int listing_fd, const struct walker_request *request)
{
	if (fds_take(home_fd, listing_fd) < 0 || rights_drop() < 0)
		_exit(1);
	walk(request);
}

void walker_wait(int fd)
{
	struct walker_request request;
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;
	ssize_t n;

	if (dup2(fd, 0) < 0 || dup2(2, 1) < 0 || close_range(3, ~0U, 0) < 0 || rights_drop() < 0)
		_exit(1);
	n = channel_receive(0, &request, sizeof(request), fds, &n_fds);
	if (n != sizeof(request) || n_fds != 2 || fds_take(fds[0], fds[1]) < 0)
		_exit(n == 0 ? 0 : 1);
	walk(&request);
}
