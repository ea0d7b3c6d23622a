/*
 * Theory of operation: a .deb file is known by its name, which has the version in it; a wheel by
 * its hash, because requirements.txt names no files. What no recipe names any more is never removed
 * by a build: another recipe may have the same cache.
 */
#include "image/cache.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "image/lock.h"
#include "image/place/place.h"
#include "image/place/recipe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int cache_hash(int fd, struct hash *ret_hash)
{
	struct stat st;
	void *bytes;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size == 0)
		return -ENODATA;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	*ret_hash = hash_make((struct str){ bytes, (size_t)st.st_size });
	(void)munmap(bytes, (size_t)st.st_size);
	return 0;
}

int cache_lock(const char *cache)
{
	char path[PATH_MAX];
	int r = str_format(path, sizeof(path), "%s/debs", cache);

	return r < 0 ? r : image_lock(path);
}

void cache_unlock(const char *cache, int fd)
{
	AUTO_FREE char *path = xasprintf("%s/debs", cache);

	image_unlock(path, fd);
}

struct walk {
	const struct lock *lock;
	struct str requirements;
	bool remove;
	struct cache_sum sum;
};

/* Whether a file is idle: its folder's descriptor, and its name. */
typedef bool is_idle(const struct walk *walk, int dir_fd, const char *name);

static bool deb_is_idle(const struct walk *walk, int dir_fd, const char *name)
{
	char wanted[256];
	struct str package;

	(void)dir_fd;
	for (size_t i = 0; i < walk->lock->n; i++) {
		package = str_from(walk->lock->packages[i].name);
		if (str_starts(str_from(name), package) &&
			lock_file_name(&walk->lock->packages[i], wanted, sizeof(wanted)) == 0 &&
			strcmp(name, wanted) == 0)
			return false;
	}
	return true;
}

static bool wheel_is_idle(const struct walk *walk, int dir_fd, const char *name)
{
	AUTO_CLOSE int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char digits[HASH_TEXT_SIZE];
	struct hash hash;

	if (fd < 0 || cache_hash(fd, &hash) < 0)
		return true;
	hash_format(&hash, digits);
	return !memmem(walk->requirements.p, walk->requirements.n, digits, strlen(digits));
}

/* A mark of another requirements.txt says no longer the truth. */
static void mark_check(const struct walk *walk, int dir_fd, const char *name)
{
	char wanted[sizeof(CACHE_MARK) + HASH_TEXT_SIZE] = CACHE_MARK;
	struct hash hash = hash_make(walk->requirements);

	hash_format(&hash, wanted + sizeof(CACHE_MARK) - 1);
	if (walk->remove && str_starts(str_from(name), STR(CACHE_MARK)) &&
		strcmp(name, wanted) != 0)
		(void)unlinkat(dir_fd, name, 0);
}

static int folder_walk(struct walk *walk, const char *cache, const char *name, is_idle *judge)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;
	int r = str_format(path, sizeof(path), "%s/%s", cache, name);

	if (r < 0)
		return r;
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (r == 0 && (errno = 0, entry = readdir(dir))) {
		struct stat st;
		uint64_t bytes;

		mark_check(walk, dirfd(dir), entry->d_name);
		if (entry->d_name[0] == '.' || fstatat(dirfd(dir), entry->d_name, &st, 0) < 0 ||
			!S_ISREG(st.st_mode))
			continue;
		bytes = (uint64_t)st.st_size;
		walk->sum.files++;
		walk->sum.bytes += bytes;
		if (!judge(walk, dirfd(dir), entry->d_name))
			continue;
		walk->sum.idle_files++;
		walk->sum.idle_bytes += bytes;
		if (walk->remove && unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			r = -errno;
	}
	if (r == 0)
		r = -errno; /* 0 at the end of the folder */
	(void)closedir(dir);
	return r;
}

int cache_measure(const char *cache, const struct recipe *recipe, const struct lock *lock,
	bool remove, struct cache_sum *ret_sum)
{
	AUTO_BUF struct buf text = BUF_INIT(RECIPE_FILE_MAX);
	struct walk walk = { .lock = lock, .remove = remove };
	int r = recipe_add_file(recipe, "requirements.txt", &text);

	if (r < 0)
		return r;
	walk.requirements = buf_get_slice(&text);
	r = folder_walk(&walk, cache, "debs", deb_is_idle);
	if (r == 0)
		r = folder_walk(&walk, cache, "wheels", wheel_is_idle);
	*ret_sum = walk.sum;
	return r;
}

static int locked_clean(const char *cache, const char *recipe_dir, struct cache_sum *ret_sum)
{
	AUTO_BUF struct buf text = BUF_INIT(LOCK_TEXT_MAX);
	AUTO_LOCK struct lock lock = { 0 };
	struct recipe recipe;
	struct fault fault;

	if (recipe_read(recipe_dir, &recipe) < 0 ||
		recipe_add_file(&recipe, "packages.lock", &text) < 0 ||
		lock_parse(buf_get_slice(&text), &lock, &fault) < 0)
		return -EINVAL;
	return cache_measure(cache, &recipe, &lock, true, ret_sum);
}

int cache_clean(const char *cache, const char *recipe_dir, struct cache_sum *ret_sum)
{
	int fd = cache_lock(cache), r;

	*ret_sum = (struct cache_sum){ 0 };
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = locked_clean(cache, recipe_dir, ret_sum);
	cache_unlock(cache, fd);
	return r;
}
