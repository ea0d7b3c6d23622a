#pragma once

#include "cli/run/run_options.h"

#include <limits.h>
#include <stdint.h>

struct jaild;

/* The files of --file: opened and checked before anything runs, then copied into the home. */

struct input {
	int fd;
	const char *path;	 /* as written on the command line */
	char name[NAME_MAX + 1]; /* in the home */
	uint64_t size_bytes;
	bool is_executable;
};

struct inputs {
	struct input *list; /* owned */
	unsigned n;
};

/* Opens all and chooses their names, equal ones numbered and said. Returns 0, or EXIT_USAGE after
 * saying what is wrong. End it with inputs_fini either way. */
int inputs_open(const struct run_options *options, struct inputs *ret_inputs);

/* Copies all into the session. Returns 0, or -errno with jaild->fault after saying which one. */
int inputs_put(const struct inputs *inputs, struct jaild *jaild, uint64_t session,
	const struct wire_limits *limits);

void inputs_fini(struct inputs *inputs);
