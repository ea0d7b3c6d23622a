#pragma once

#include "base/log.h"

#include <stdbool.h>

/* How cloche-jaild is started. The strings are those of argv. */

struct options {
	int socket_fd;
	int setup_fd;	    /* >= 0: we are jaild itself, already inside the outer namespaces */
	const char *rootfs; /* NULL: the host's /usr */
	unsigned stage_to_fail;
	unsigned zygote_max_runs; /* 0: no zygotes */
	enum log_level log_level;
	bool is_unlimited; /* go on without cgroups */
	bool is_doctor;
};

/* Reads the command line. Returns 0; on -EINVAL one line on stderr says why. */
int options_parse(int argc, char **argv, struct options *ret_options);
