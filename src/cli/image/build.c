/* `cloche image build`. */
#include "image/build.h"

#include "base/alloc.h"
#include "base/str.h"
#include "cli/base/exit.h"
#include "cli/base/image_dir.h"
#include "cli/base/say.h"
#include "cli/image/image.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void tell(const char *line)
{
	(void)fprintf(stderr, "%s\n", line);
}

int image_path_take(const char *option, const char *value, char ret_path[PATH_MAX])
{
	char here[PATH_MAX];
	size_t n;

	if (!value[0])
		return say_usage("%s: name a folder", option);
	if (value[0] == '/')
		(void)str_copy(here, sizeof(here), "");
	else if (!getcwd(here, sizeof(here)))
		return say_usage(
			"%s %s: this folder has no name; give a path from /", option, value);
	if (str_format(ret_path, PATH_MAX, "%s%s%s", here, value[0] == '/' ? "" : "/", value) < 0)
		return say_usage("%s: the name is too long", option);
	n = strlen(ret_path);
	while (n > 1 && ret_path[n - 1] == '/')
		ret_path[--n] = '\0';
	return 0;
}

/* The recipe that came with the program: installed, or in the source that it was built in. */
static int recipe_find(char ret_path[PATH_MAX])
{
	static const char *const places[] = { "../share/cloche/image", "../image" };
	char self[PATH_MAX], list[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return -ENOENT;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return -ENOENT;
	slash[1] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (str_format(list, sizeof(list), "%s%s/packages.in", self, places[i]) == 0 &&
			access(list, R_OK) == 0)
			return str_format(ret_path, PATH_MAX, "%s%s", self, places[i]);
	return -ENOENT;
}

int image_paths_find(const struct image_request *request, struct image_paths *ret)
{
	int status = 0;

	if (request->from)
		status = image_path_take("--from", request->from, ret->recipe);
	else if (recipe_find(ret->recipe) < 0)
		return say_usage("the recipe is neither in ../share/cloche/image nor in ../image "
				 "beside cloche; name it with --from");
	if (status == 0 && request->out)
		status = image_path_take("--out", request->out, ret->out);
	else if (status == 0 && image_dir_default(ret->place) < 0)
		return say_usage("name a folder for the image: --out DIR");
	if (status == 0 && request->cache)
		status = image_path_take("--cache", request->cache, ret->cache);
	else if (status == 0 && image_cache_default(ret->cache) < 0)
		return say_usage("name a folder for what is downloaded: --cache DIR");
	return status;
}

int image_verb_build(const struct image_request *request)
{
	AUTO_FREE struct image_paths *paths = xcalloc(1, sizeof(*paths));
	struct image_options options = { .tell = tell };
	struct image_trouble trouble;
	char path[PATH_MAX];
	int r;

	if (request->locked && request->update)
		return say_usage("--locked and --update-lock: say one of the two");
	if (request->package && !request->package[0])
		return say_usage(
			"--update-lock=: name a Python package, or leave out the = for all");
	r = image_paths_find(request, paths);
	if (r != 0)
		return r;
	options.recipe = paths->recipe;
	options.out = request->out ? paths->out : NULL;
	options.place = request->out ? NULL : paths->place;
	options.cache = paths->cache;
	options.package = request->package;
	options.locking = request->update   ? IMAGE_LOCK_UPDATE
			  : request->locked ? IMAGE_LOCK_ONLY
					    : IMAGE_LOCK_PREFERRED;
	r = image_build(&options, path, &trouble);
	if (r < 0) {
		say("%s", trouble.what);
		if (trouble.remedy[0])
			say("%s", trouble.remedy);
		return trouble.signal != 0 ? EXIT_SIGNAL_BASE + trouble.signal : EXIT_OURS;
	}
	if (r == 1)
		tell("nothing has changed: the image of this recipe is there already");
	(void)puts(path);
	return 0;
}
