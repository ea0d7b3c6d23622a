#pragma once

#include "base/fault.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_file;
struct visit;

/* Brings bytes into the home of a visited session. */

struct bring {
	struct visit *visit;
	uint64_t id; /* jaild's number of the upload */
	int fd;	     /* -1: none under way */
	uint64_t bytes;
	uint64_t max_bytes;
	char *path;	/* owned */
	bool has_mtime; /* set by the caller between begin and commit */
	int64_t mtime_ns;
};

/* Begins a file without a name; mode is permission bits. Each returns 0 or -errno with *ret_fault;
 * after an error of bring_begin there is nothing to end, else end with commit or abort. */
int bring_begin(struct bring *bring, struct visit *visit, struct str path, unsigned mode,
	struct fault *ret_fault);
int bring_write(struct bring *bring, const void *data, size_t size, struct fault *ret_fault);

/* *ret_is_new (or NULL): nothing was there under the name. Ends it, also on an error. */
int bring_commit(struct bring *bring, bool *ret_is_new, struct fault *ret_fault);
void bring_abort(struct bring *bring);

/* All inline files of a call, whose form was checked. A fault about a path names its field. */
int bring_files(
	struct visit *visit, const struct call_file *files, size_t n, struct fault *ret_fault);
