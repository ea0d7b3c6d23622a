#pragma once

#include "wire/limits.h"
#include "wire/package.h"

/* The words that a script is executed with: path, arguments, environment. */

/* Fixed variables, requested ones, and the end. */
#define SCRIPT_ENV_FIXED_MAX 20
#define SCRIPT_ARGS_FIXED    2

struct script_words {
	const char *path;
	const char *argv[SCRIPT_ARGS_FIXED + PACKAGE_ARGS_MAX + 1];
	const char *envp[SCRIPT_ENV_FIXED_MAX + PACKAGE_ENV_MAX + 1];
	char threads[6][40]; /* the variables that carry the number of processors */
};

/* Fills words from a parsed package, whose strings it borrows. The environment is decision 10's
 * list; a requested TZ or LANG takes the place of ours. */
void script_words_make(struct script_words *words, const struct package *package,
	const struct wire_limits *limits);
