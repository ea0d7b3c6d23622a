#pragma once

#include "settings/settings.h"

#include <limits.h>
#include <stdbool.h>

/* What `cloche up` was asked for: its options over the configuration file over the defaults. */
struct up_options {
	struct settings settings;
	char state[PATH_MAX]; /* the state directory */
	bool is_cold;	      /* no interpreters are prepared */
	bool is_host_unlimited;
	bool is_help;
	const char *fail_stage; /* tests of the walls, or NULL */
};

/* Reads them. Returns 0, or an exit status after saying what is wrong. */
int up_options_parse(int argc, char **argv, struct up_options *ret_options);
