#include "image/place/tree.h"

#include "base/alloc.h"
#include "image/place/recipe.h"

#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static FTS *walk_open(const char *path)
{
	char *own = xstrdup(path);
	char *const paths[] = { own, NULL };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);

	free(own); /* fts_open has copied it */
	return walk;
}

static int entry_remove(const FTSENT *entry)
{
	switch (entry->fts_info) {
	case FTS_D:
		return 0;
	case FTS_DP:
		return rmdir(entry->fts_accpath) < 0 ? -errno : 0;
	case FTS_DNR:
	case FTS_ERR:
		return -entry->fts_errno;
	default:
		return unlink(entry->fts_accpath) < 0 ? -errno : 0;
	}
}

int tree_remove(const char *path)
{
	FTSENT *entry;
	struct stat st;
	FTS *walk;
	int r = 0;

	/* first: a walk that is closed before it was read leaks, glibc 2.36 */
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	walk = walk_open(path);
	if (!walk)
		return -errno;
	while (r == 0 && (entry = fts_read(walk)))
		r = entry_remove(entry);
	(void)fts_close(walk);
	return r;
}

int tree_measure(const char *path, struct tree_sum *ret_sum)
{
	FTS *walk = walk_open(path);
	FTSENT *entry;

	*ret_sum = (struct tree_sum){ 0 };
	if (!walk)
		return -errno;
	while ((entry = fts_read(walk))) {
		const struct stat *st = entry->fts_statp;

		if (entry->fts_info == FTS_DP || !st)
			continue;
		if (entry->fts_info == FTS_F)
			ret_sum->files++;
		ret_sum->bytes +=
			(uint64_t)st->st_blocks * 512 / (S_ISDIR(st->st_mode) ? 1 : st->st_nlink);
	}
	(void)fts_close(walk);
	return 0;
}

/* The patterns as strings: fnmatch needs them ended. */
struct patterns {
	char *lines[RECIPE_NAMES_MAX];
	size_t n;
};

static void patterns_read(struct str text, struct patterns *ret)
{
	struct str line;

	*ret = (struct patterns){ 0 };
	while (ret->n < RECIPE_NAMES_MAX && recipe_line_next(&text, &line))
		ret->lines[ret->n++] = xasprintf("%.*s", STR_ARG(line));
}

static void patterns_fini(struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->n; i++)
		free(patterns->lines[i]);
}

static bool is_left_out(const struct patterns *patterns, const char *name)
{
	bool is_out = false;

	for (size_t i = 0; i < patterns->n; i++) {
		const char *line = patterns->lines[i];

		if (line[0] == '!' && fnmatch(line + 1, name, 0) == 0)
			return false;
		if (line[0] != '!' && !is_out)
			is_out = fnmatch(line, name, 0) == 0;
	}
	return is_out;
}

static int mode_lower(const FTSENT *entry)
{
	mode_t mode = entry->fts_statp->st_mode & 07777;
	mode_t lower = mode & ~(mode_t)(S_ISUID | S_ISGID | S_ISVTX | S_IWGRP | S_IWOTH);

	if (mode == lower)
		return 0;
	return chmod(entry->fts_accpath, lower) < 0 ? -errno : 0;
}

/* A folder is looked at when all in it has been: one that something stays in stays. */
static int entry_strip(const struct patterns *patterns, const FTSENT *entry, const char *name)
{
	switch (entry->fts_info) {
	case FTS_D:
		return 0;
	case FTS_DP:
		if (is_left_out(patterns, name) && rmdir(entry->fts_accpath) == 0)
			return 0;
		return mode_lower(entry);
	case FTS_F:
		if (!is_left_out(patterns, name))
			return mode_lower(entry);
		break;
	case FTS_SL:
	case FTS_SLNONE:
		if (!is_left_out(patterns, name))
			return 0;
		break;
	case FTS_DEFAULT: /* device, socket, pipe */
		break;
	default:
		return entry->fts_errno ? -entry->fts_errno : -EIO;
	}
	return unlink(entry->fts_accpath) < 0 ? -errno : 0;
}

int tree_strip(const char *path, struct str text)
{
	const size_t prefix = strlen(path) + 1;
	struct patterns patterns;
	FTS *walk = walk_open(path);
	FTSENT *entry;
	int r = 0;

	if (!walk)
		return -errno;
	patterns_read(text, &patterns);
	while (r == 0 && (entry = fts_read(walk)))
		if (entry->fts_level > 0)
			r = entry_strip(&patterns, entry, entry->fts_path + prefix);
	(void)fts_close(walk);
	patterns_fini(&patterns);
	return r;
}
