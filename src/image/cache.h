#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hash;
struct lock;
struct recipe;

/* The downloads that builds keep: .deb files and wheels. */

struct cache_sum {
	uint64_t bytes, files; /* all */
	uint64_t idle_bytes,
		idle_files; /* of these, what neither the lock nor requirements.txt names */
};

#define CACHE_MARK ".whole-" /* and the hash of a requirements.txt: all its wheels are there */

/* The hash of an open file's bytes. Returns 0 or -errno. */
int cache_hash(int fd, struct hash *ret_hash);

/* Locks the cache against other commands, by its folder of .deb files: an image may be made in the
 * cache's own folder, which has a lock of another kind. Returns the descriptor, or -EBUSY, or
 * -errno. The caller closes it. */
int cache_lock(const char *cache);
void cache_unlock(const char *cache, int fd);

/* Measures a cache that the caller has locked, for the recipe with these Debian packages; with
 * `remove`, what is idle goes. Returns 0, or -errno of what could not be read or removed. */
int cache_measure(const char *cache, const struct recipe *recipe, const struct lock *lock,
	bool remove, struct cache_sum *ret_sum);

/* The same for the recipe as its files are, in a cache that is locked meanwhile and may be missing.
 * Returns 0, -EBUSY while a build is at work there, -EINVAL if that is no recipe or it has no
 * locks, or -errno. */
int cache_clean(const char *cache, const char *recipe_dir, struct cache_sum *ret_sum);
