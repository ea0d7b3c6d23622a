#include "jaild/walker.h"

#include "base/alloc.h"
#include "base/beneath.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "jail/outside/caps.h"
#include "wire/listing.h"
#include "wire/message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

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
	bool do_hash;
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

/* The content's hash: a write through mmap changes no time on tmpfs (decision 19). */
static void hash_add(struct walker *walker, const char *path, struct listing_entry *entry)
{
	static char chunk[256 * 1024];
	AUTO_CLOSE int fd = -1;
	XXH3_state_t *state;
	XXH128_hash_t hash;
	ssize_t n = -1; /* 0 only at the end of the file */

	if (beneath_open_regular(walker->home_fd, path, &fd) < 0)
		return;
	state = XXH3_createState();
	if (!state)
		return;
	XXH3_128bits_reset(state);
	while (clock_now_us() < walker->deadline_us && (n = read(fd, chunk, sizeof(chunk))) > 0)
		XXH3_128bits_update(state, chunk, (size_t)n);
	hash = XXH3_128bits_digest(state);
	XXH3_freeState(state);
	if (n != 0)
		return;
	entry->is_hashed = 1;
	entry->hash[0] = hash.low64;
	entry->hash[1] = hash.high64;
}

static void entry_add(struct walker *walker, const char *path, const struct stat *status)
{
	static const char padding[8];
	size_t size = strlen(path);
	struct listing_entry entry = { .record_size = (uint32_t)listing_record_size(size),
		.path_size = (uint16_t)size,
		.kind = (uint8_t)kind_of(status->st_mode),
		.mode = status->st_mode & 07777,
		.links = (uint32_t)status->st_nlink,
		.size_bytes = (uint64_t)status->st_size,
		.inode = status->st_ino,
		.mtime_ns = clock_to_ns(&status->st_mtim),
		.ctime_ns = clock_to_ns(&status->st_ctim) };

	if (entry.ctime_ns > walker->newest_ns)
		walker->newest_ns = entry.ctime_ns;
	/* the whole record or nothing of it: a part would make the whole listing unreadable */
	if (walker->result.entries >= LISTING_ENTRIES_MAX ||
		entry.record_size > walker->records.max - walker->records.len) {
		walker->result.is_truncated = 1;
		return;
	}
	if (walker->do_hash && entry.kind == LISTING_FILE)
		hash_add(walker, path, &entry);
	(void)buf_add(&walker->records, &entry, sizeof(entry));
	(void)buf_add(&walker->records, path, size);
	(void)buf_add(&walker->records, padding, entry.record_size - sizeof(entry) - size);
	walker->result.entries++;
}

static void entry_visit(struct walker *walker, int folder_fd, const char *folder, const char *name)
{
	char path[BENEATH_PATH_MAX];
	struct stat status;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	if (str_format(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", name) < 0) {
		walker->result.is_truncated = 1;
		return;
	}
	if (fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return; /* gone meanwhile */
	entry_add(walker, path, &status);
	if (S_ISDIR(status.st_mode) && buf_add(&walker->folders, path, strlen(path) + 1) < 0)
		walker->result.is_truncated = 1;
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
	while (!walker->result.is_truncated && (entry = readdir(dir))) {
		entry_visit(walker, dirfd(dir), folder, entry->d_name);
		if (clock_now_us() > walker->deadline_us)
			walker->result.is_truncated = 1;
	}
	(void)closedir(dir);
}

static void home_walk(struct walker *walker)
{
	(void)buf_add(&walker->folders, "", 1);
	while (walker->next_folder < walker->folders.len && !walker->result.is_truncated) {
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
static int rights_drop(int home_fd, int listing_fd)
{
	struct rlimit limit = { LISTING_SIZE_MAX + 4096, LISTING_SIZE_MAX + 4096 };

	if (dup2(home_fd, 0) < 0 || dup2(listing_fd, 1) < 0 || close_range(3, ~0U, 0) < 0)
		return -errno;
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		return -errno;
	return caps_keep_only(1ULL << CAP_DAC_READ_SEARCH);
}

void walker_run(int home_fd, int listing_fd, uint32_t flags)
{
	struct walker walker = { .home_fd = 0,
		.do_hash = flags & WIRE_LIST_HASH,
		.deadline_us = clock_now_us() + WALK_LIMIT_US };

	if (rights_drop(home_fd, listing_fd) < 0)
		_exit(1);
	buf_init(&walker.folders, FOLDERS_BYTES_MAX);
	buf_init(&walker.records, LISTING_SIZE_MAX);
	home_walk(&walker);
	if (flags & WIRE_LIST_SETTLE)
		times_settle(&walker);
	if (fd_write_full(1, walker.records.data, walker.records.len) < 0 ||
		fd_write_full(1, &walker.result, sizeof(walker.result)) < 0)
		_exit(1);
	_exit(0);
}
