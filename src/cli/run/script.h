#pragma once

#include "base/buf.h"
#include "wire/package.h"

#include <stdbool.h>

struct run_options;

/* What is read before a run: the script and its input, whole and within the bounds. */

struct script {
	enum package_language language;
	struct buf code;  /* as the interpreter gets it */
	struct buf input; /* what it reads as stdin */
	bool has_input;
};

/* Reads both. Returns 0, or EXIT_USAGE after saying what is wrong. End it with script_fini either
 * way. */
int script_load(const struct run_options *options, struct script *ret_script);
void script_fini(struct script *script);
