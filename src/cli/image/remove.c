/* `cloche image rm`: images, what builds have left, and downloads that no build needs any more. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "cli/base/exit.h"
#include "cli/base/image_dir.h"
#include "cli/base/say.h"
#include "cli/image/image.h"
#include "image/cache.h"
#include "image/place/hold.h"
#include "image/place/place.h"

#include <errno.h>
#include <stdio.h>

/* `word` is what the person calls it. */
static int image_drop(const char *word, const char *path)
{
	AUTO_BUF struct buf users = BUF_INIT(512);
	int r = image_remove(path);

	switch (r) {
	case 0:
		return 0;
	case -ENOENT:
		return say_usage("%s: there is no such image; `cloche image ls` lists them", word);
	case -ETXTBSY:
		image_users_add(path, &users);
		say("%s: is in use: %s; end them first", word, buf_get_cstr(&users));
		return EXIT_OURS;
	case -EBUSY:
		say("%s: another command changes the images; wait for it", word);
		return EXIT_OURS;
	default:
		say("%s: %s", word, strerror(-r));
		return EXIT_OURS;
	}
}

/* An image's name in the place, or its folder. */
static int named_drop(const char *place, const char *word)
{
	char path[PATH_MAX];
	int status = 0;

	if (strchr(word, '/'))
		status = image_path_take("rm", word, path);
	else if (!image_id_is_valid(word) ||
		 str_format(path, sizeof(path), "%s/%s", place, word) < 0)
		return say_usage("%s: there is no such image; `cloche image ls` lists them", word);
	return status == 0 ? image_drop(word, path) : status;
}

static int remains_drop(const char *place)
{
	int lock = image_lock(place), r = lock;
	char path[PATH_MAX];

	if (lock == -ENOENT || lock == -EBUSY)
		return 0; /* no place, or a build at work */
	(void)str_copy(path, sizeof(path), place);
	if (lock >= 0) {
		r = image_remains_remove(place, path);
		image_unlock(place, lock);
	}
	if (r >= 0)
		return 0;
	say("%s: %s", path, strerror(-r));
	return EXIT_OURS;
}

/* All but the one in use, and what builds that were cut short have left. */
static int old_drop(const char *place)
{
	AUTO_FREE char *current = xcalloc(1, PATH_MAX), *path = xcalloc(1, PATH_MAX);
	struct image_id ids[IMAGES_MAX];
	int status = remains_drop(place), n;

	if (status != 0 || image_current(place, current) < 0)
		return status;
	n = image_list(place, ids);
	if (n < 0) {
		say("%s: %s", place, strerror(-n));
		return EXIT_OURS;
	}
	for (int i = 0; i < n && status == 0; i++) {
		(void)str_format(path, PATH_MAX, "%s/%s", place, ids[i].text);
		if (strcmp(path, current) != 0)
			status = image_drop(ids[i].text, path);
	}
	return status;
}

static int downloads_drop(const struct image_request *request)
{
	AUTO_FREE struct image_paths *paths = xcalloc(1, sizeof(*paths));
	struct cache_sum sum;
	int r = image_paths_find(request, paths);

	if (r != 0)
		return r;
	r = cache_clean(paths->cache, paths->recipe, &sum);
	if (r == -EINVAL)
		return say_usage("%s: is no recipe with packages.lock and requirements.txt; name "
				 "one with --from",
			paths->recipe);
	if (r < 0) {
		say("%s: %s", paths->cache,
			r == -EBUSY ? "a build is at work there; wait for it" : strerror(-r));
		return EXIT_OURS;
	}
	say("%s: removed %llu MB (%llu files), kept %llu MB of the recipe in %s", paths->cache,
		(unsigned long long)(sum.idle_bytes / 1000000), (unsigned long long)sum.idle_files,
		(unsigned long long)((sum.bytes - sum.idle_bytes) / 1000000), paths->recipe);
	return 0;
}

int image_verb_rm(const struct image_request *request)
{
	char place[PATH_MAX] = "";
	int status = 0;

	if (!request->old && !request->downloads && !request->words[0])
		return say_usage(
			"which image? name it, or say --old for all but the one in use, or "
			"--downloads");
	if (!request->downloads && (request->from || request->cache))
		return say_usage("--from and --cache are for --downloads");
	(void)image_dir_default(place);
	for (char **word = request->words; *word && status == 0; word++)
		status = named_drop(place, *word);
	if (status == 0 && request->old)
		status = old_drop(place);
	return status == 0 && request->downloads ? downloads_drop(request) : status;
}
