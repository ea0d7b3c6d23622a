/*
 * Theory of operation: an image is known by the hash of all that decides what is in it. The files
 * are hashed in the order of their names, each as its name and its own hash, so that no two recipes
 * read the same. What the archive had that day is not in it: the lock is.
 */
#include "image/place/recipe.h"

#include "base/buf.h"
#include "base/macro.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/utsname.h>

/* Counts up when the code here makes something else of the same recipe. */
#define RECIPE_MAKER "1"

static const char *const files[] = { "finish.py", "leave-out", "matplotlib_fonts.py", "packages.in",
	"packages.lock", "requirements.in", "requirements.txt" };

static int file_hash(const struct recipe *recipe, const char *name, struct buf *out)
{
	AUTO_BUF struct buf text = BUF_INIT(RECIPE_FILE_MAX);
	char digits[HASH_TEXT_SIZE];
	struct hash hash;
	int r = recipe_add_file(recipe, name, &text);

	/* what is made from the lists by hand may not be there yet */
	if (r < 0 && (r != -ENOENT || str_ends(str_from(name), STR(".in"))))
		return r;
	hash = hash_make(buf_get_slice(&text));
	hash_format(&hash, digits);
	return buf_addf(out, "%s %s\n", name, digits);
}

int recipe_read(const char *dir, struct recipe *ret_recipe)
{
	AUTO_BUF struct buf list = BUF_INIT(4096);
	struct utsname machine;
	int r = str_copy(ret_recipe->dir, sizeof(ret_recipe->dir), dir);

	if (r < 0 || uname(&machine) < 0)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < ARRAY_SIZE(files) && r == 0; i++)
		r = file_hash(ret_recipe, files[i], &list);
	if (r == 0)
		r = buf_addf(&list, "%s %s\n", machine.machine, RECIPE_MAKER);
	if (r == 0)
		ret_recipe->hash = hash_make(buf_get_slice(&list));
	return r;
}

int recipe_add_file(const struct recipe *recipe, const char *name, struct buf *out)
{
	char path[PATH_MAX + 64];

	if (str_format(path, sizeof(path), "%s/%s", recipe->dir, name) < 0)
		return -ENAMETOOLONG;
	return buf_add_file(out, AT_FDCWD, path);
}

bool recipe_line_next(struct str *text, struct str *ret_line)
{
	struct str line;

	while (text->n > 0) {
		if (!str_split_once(*text, '\n', &line, text))
			*text = STR("");
		line = str_trim(line);
		if (line.n > 0 && line.p[0] != '#') {
			*ret_line = line;
			return true;
		}
	}
	return false;
}
