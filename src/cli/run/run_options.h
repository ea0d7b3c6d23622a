#pragma once

#include "cli/base/server.h"
#include "wire/limits.h"
#include "wire/package.h"

#include <stdbool.h>
#include <stdint.h>

/* The command line of `cloche run`, as written: nothing is opened or read yet. */

#define RUN_FILES_MAX 256 /* --file: each stays open until it is copied, and 1,024 may be open */

struct run_options {
	bool is_json;
	bool is_host_unlimited;
	bool has_language;
	enum package_language language;
	const char *files[RUN_FILES_MAX];
	unsigned n_files;
	const char *out_dir;
	const char *profile; /* NULL: the session's or the server's own, with --server alone */
	struct wire_limits limits; /* of the profile; of NULL: of the one with the longest time */
	uint64_t wall_ms;	   /* --timeout, or the profile's */
	bool has_timeout;
	const char *stdin_path; /* NULL: none; "-": our own */
	const char *env[PACKAGE_ENV_MAX];
	unsigned n_env;
	const char *rootfs;
	const char *fail_stage;
	struct server_options server; /* server.server NULL: here, without a supervisor */
	const char *session;	      /* --session, or NULL: one for this run alone */
	const char *policy;	      /* of that session, or NULL: as it is, or the token's */
	bool is_live;		      /* in its live interpreter, */
	bool is_reset;		      /* a new one */
	const char *script;	      /* "-": our stdin */
	const char *args[PACKAGE_ARGS_MAX];
	unsigned n_args;
};

enum run_options_result {
	RUN_OPTIONS_READ,
	RUN_OPTIONS_HELP
};

/* True if a supervisor is to do it: then nothing is jailed here. */
bool run_options_is_remote(int argc, char *const argv[]);

/* Reads argv, whose strings *ret_options points into. Returns RUN_OPTIONS_READ; RUN_OPTIONS_HELP
 * when help is wanted; or -EINVAL after having said what is wrong and what helps. */
int run_options_parse(int argc, char **argv, struct run_options *ret_options);
