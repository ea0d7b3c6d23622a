#pragma once

/* `cloche image`: gets argv from "image" on and returns the exit status, or EXIT_HELP. */
int cli_image(int argc, char **argv);

/* What its words and options say. */
struct image_request {
	const char *verb;  /* build, path, ls or rm */
	char **words;	   /* behind it */
	const char *out;   /* --out, or NULL, as all of these */
	const char *from;  /* --from */
	const char *cache; /* --cache */
	int locked;	   /* --locked: 1 */
	int update;	   /* --update-lock: 1 */
	int old;	   /* --old: 1 */
	int json;	   /* --json: 1 */
};

/* The verbs. Return the exit status. */
int image_verb_build(const struct image_request *request);
int image_verb_path(const struct image_request *request);
int image_verb_ls(const struct image_request *request);
int image_verb_rm(const struct image_request *request);
