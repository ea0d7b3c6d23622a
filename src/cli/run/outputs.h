#pragma once

#include "jail/files/changes.h"
#include "sandbox/answer.h"

#include <stdbool.h>

/* The files that a run made or changed, taken out into the folder of --out. */

struct outputs {
	struct answer_file *files; /* one for each change, in its order; owned */
	size_t n;
	uint64_t data_bytes; /* taken out so far */
	unsigned n_saved;
	unsigned n_failed;
};

/* Where the files are. Embedded in its owner; open gives a descriptor at the start of a file's
 * bytes, or -errno with *ret_why, which lives until the next call. */
struct outputs_source {
	int (*open)(
		struct outputs_source *source, const char *path, int *ret_fd, const char **ret_why);
};

struct outputs_request {
	struct outputs_source *source;
	const char *out_dir; /* made if there is something to put */
	uint64_t max_bytes;  /* of data in all: what the home can hold */
	bool is_quiet;	     /* say only what failed */
};

/* Looks, before anything runs, whether a folder of this name can be used or made. Returns 0, or
 * EXIT_USAGE after saying why not. */
int outputs_check(const char *out_dir);

/* Copies all; what fails is said, counted, and does not stop the others. The changes must outlive
 * *ret_outputs, which outputs_fini ends. */
void outputs_collect(const struct outputs_request *request, const struct changes *changes,
	struct outputs *ret_outputs);
void outputs_fini(struct outputs *outputs);
