#pragma once

#include <limits.h>

/* `cloche image`: gets argv from "image" on and returns the exit status, or EXIT_HELP. */
int cli_image(int argc, char **argv);

/* What its words and options say. */
struct image_request {
	const char *verb;    /* build, path, ls or rm */
	char **words;	     /* behind it */
	const char *out;     /* --out, or NULL, as all of these */
	const char *from;    /* --from */
	const char *cache;   /* --cache */
	int locked;	     /* --locked: 1 */
	int update;	     /* --update-lock: 1 */
	const char *package; /* --update-lock=PACKAGE, or NULL */
	int old;	     /* --old: 1 */
	int json;	     /* --json: 1 */
	int downloads;	     /* --downloads: 1 */
};

/* A path of the person as one from the root: a build does not stay in the same folder. Returns 0 or
 * an exit status after saying what is wrong. */
int image_path_take(const char *option, const char *value, char ret_path[PATH_MAX]);

/* The folders that the options name, or the usual ones. Returns 0 or an exit status. */
struct image_paths {
	char recipe[PATH_MAX];
	char place[PATH_MAX];
	char out[PATH_MAX];
	char cache[PATH_MAX];
};
int image_paths_find(const struct image_request *request, struct image_paths *ret);

/* The verbs. Return the exit status. */
int image_verb_build(const struct image_request *request);
int image_verb_path(const struct image_request *request);
int image_verb_ls(const struct image_request *request);
int image_verb_rm(const struct image_request *request);
