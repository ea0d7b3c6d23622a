#pragma once

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Runs the programs that an image is made with: mmdebstrap, apt-get, pip, and Python of the image.
 * They keep our environment, because what people have set up for apt and pip (proxies, indexes,
 * certificates) is there, but speak English, so that what they say can be read. */

#define TOOL_OUT_MAX                                                                               \
	(8u * 1024 * 1024) /* bytes of stdout that are kept: a list of 400 packages has 80 KiB */

struct tool {
	const char *const *argv; /* NULL-ended; argv[0] is looked up in PATH */
	const char *dir;	 /* where it runs; NULL: here */
	const char *tmp_dir;	 /* its TMPDIR; NULL: ours */
	const char *variable;	 /* "NAME=VALUE" more in its environment; NULL: none */
	int log_fd;		 /* gets its stderr, and its stdout too if nobody else wants that */
	int out_fd;		 /* gets its stdout; -1: see ret_out */
};

/* True if there is such a program in PATH. */
bool tool_is_there(const char *name);

/* Waits for its end. ret_out (NULL: nobody wants it) gets its stdout. Returns its exit status, 128
 * + n after a signal n, or -errno: -ENOENT if there is no such program, -ENOBUFS if it said too
 * much. */
int tool_run(const struct tool *tool, struct buf *ret_out);
