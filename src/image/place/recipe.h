#pragma once

#include "base/str.h"
#include "crypt/hash.h"

#include <limits.h>

struct buf;

/* A recipe: the folder that says what an image is made of. */

#define RECIPE_FILE_MAX	 (1024u * 1024) /* bytes: requirements.txt has 400 KiB */
#define RECIPE_NAMES_MAX 400		/* lines of packages.in, of leave-out */

struct recipe {
	char dir[PATH_MAX];
	struct hash hash; /* of all its files, the architecture and our own version */
};

/* Reads and hashes the folder. Returns 0, -ENOENT if there is no packages.in or requirements.in in
 * it, or -errno. */
int recipe_read(const char *dir, struct recipe *ret_recipe);

/* Appends a file of the recipe. Returns 0, -ENOENT, -ENOBUFS or -errno. */
int recipe_add_file(const struct recipe *recipe, const char *name, struct buf *out);

/* Takes the next line that is neither empty nor a comment (#) off text, trimmed. False at the end.
 */
bool recipe_line_next(struct str *text, struct str *ret_line);
