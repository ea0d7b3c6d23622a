#pragma once

#include "base/clock.h"
#include "image/build.h"
#include "image/lock.h"
#include "image/place/recipe.h"
#include "image/tool.h"

#include <limits.h>

struct buf;

/* One build under way: what its steps share. Internal to src/image. */

struct image_job {
	const struct image_options *options;
	struct recipe recipe;
	struct lock lock;      /* the Debian packages that go in */
	struct lock pinned;    /* packages.lock as it was read; may be empty */
	char folder[PATH_MAX]; /* in which the tree is made and then renamed */
	char work[PATH_MAX];   /* a folder beside the place, ours alone: removed at the end */
	char tree[PATH_MAX];   /* the image in it */
	char debs[PATH_MAX];   /* of the cache */
	char wheels[PATH_MAX];
	char log_path[PATH_MAX];
	int log_fd;
	int cache_fd; /* its lock */
	unsigned step;
	usec_t started_us;
	struct image_trouble *trouble;
};

#define JOB_STEPS 6

/* A path below base, cut never: -ENAMETOOLONG is refused in job_start for all that we make. */
__attribute__((format(printf, 2, 3))) int job_path(
	char ret_path[PATH_MAX], const char *format, ...);

/* Says that the next step begins. */
__attribute__((format(printf, 2, 3))) void job_step(struct image_job *job, const char *format, ...);

/* Says something in between. */
__attribute__((format(printf, 2, 3))) void job_tell(
	const struct image_job *job, const char *format, ...);

/* Fills the trouble: what, and the remedy in a sentence of its own. Returns -EIO. */
__attribute__((format(printf, 3, 4))) int job_refuse(
	const struct image_job *job, const char *remedy, const char *format, ...);

/* Runs a program with our log. What it gives is 0, or -EIO after job_refuse with what it said at
 * last; `what` tells people what it was to do. out may be NULL. */
int job_run(const struct image_job *job, const char *what, const char *const *argv,
	struct buf *ret_out);

/* As job_run, with one more variable ("NAME=VALUE", or NULL) in its environment. */
int job_run_with(const struct image_job *job, const char *what, const char *const *argv,
	const char *variable);

/* As job_run, but an exit status is returned, and said by nobody; -EIO after job_refuse if there is
 * no such program. */
int job_try(const struct image_job *job, const char *const *argv, struct buf *ret_out);

/* Runs a program with its stdout in a new file of the tree, mode 0644. Returns as job_run. */
int job_run_into(
	const struct image_job *job, const char *what, const char *const *argv, const char *name);

/* As job_run, in another folder. */
int job_run_in(
	const struct image_job *job, const char *what, const char *const *argv, const char *dir);

/* Writes a new file of mode 0644, or replaces one. Returns 0 or -EIO after job_refuse. */
int job_write(const struct image_job *job, const char *path, struct str text);

/* Makes a folder with all above it, 0755. Returns 0 or -EIO after job_refuse. */
int job_mkdir(const struct image_job *job, const char *path);
