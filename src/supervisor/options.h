#pragma once

#include "settings/settings.h"

#include <stdbool.h>
#include <sys/types.h>

/* How cloche-supervisor is started: by `cloche up`, not by people. */
struct options {
	int control_fd;
	int store_fd;  /* the folder of kept sessions; -1: none */
	int secret_fd; /* a sealed memfd with its secret; -1: none */
	bool has_user; /* go on as uid and gid: for root */
	uid_t uid;
	gid_t gid;
	struct settings settings;
};

/* Reads `--control-fd N [--store-fd N --secret-fd N] [--user UID:GID] KEY=VALUE...`. Returns 0; on
 * -EINVAL one line on stderr says why. */
int options_parse(int argc, char **argv, struct options *ret_options);
