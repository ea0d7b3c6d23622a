#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * What a run executes, in one sealed memfd that only cloche-init reads: language, code, arguments,
 * environment. A fixed head, then NUL-ended strings, then the code. The reader allocates nothing;
 * its pointers lie in the mapped package.
 */

#define PACKAGE_CODE_MAX      (256 * 1024)
#define PACKAGE_ARGS_MAX      64
#define PACKAGE_ENV_MAX	      64
#define PACKAGE_ENV_BYTES_MAX (32 * 1024)
#define PACKAGE_ARG_BYTES_MAX (128 * 1024)
#define PACKAGE_SIZE_MAX      (PACKAGE_CODE_MAX + PACKAGE_ENV_BYTES_MAX + PACKAGE_ARG_BYTES_MAX + 4096)

/* PROGRAM executes args[0] itself, without code: canaries and measurements. */
enum package_language {
	PACKAGE_PYTHON,
	PACKAGE_BASH,
	PACKAGE_PROGRAM,
	PACKAGE_LANGUAGE_MAX
};

struct package {
	enum package_language language;
	const char *code;
	size_t code_size;
	const char *args[PACKAGE_ARGS_MAX + 1]; /* NULL-ended */
	const char *env[PACKAGE_ENV_MAX + 1];	/* "NAME=value", NULL-ended */
	unsigned n_args;
	unsigned n_env;
};

/* Writes package into out (whose maximum should be PACKAGE_SIZE_MAX). Returns 0, or -E2BIG when a
 * count or size is over its maximum, -EINVAL for a variable without '=' or an empty name. */
int package_format(const struct package *package, struct buf *out);

/* Reads a package of size bytes at data; *ret_package points into data. Every count, length and NUL
 * is checked. Returns 0 or -EBADMSG. */
int package_parse(const void *data, size_t size, struct package *ret_package);

/* True if the variable "NAME=..." may be asked for by a client: no control over the loader, the
 * interpreter or the jail's own names (decision 10). NAME is letters, digits and '_'. */
bool package_env_is_allowed(const char *variable);
