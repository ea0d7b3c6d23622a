#pragma once

#include "base/str.h"

#include <stdint.h>

/* Trees of files that are ours alone while they are made: nobody else writes in them. A walk never
 * enters another mount and never follows a link. fts(3) */

/* Removes the tree with its root. Returns 0, also if there is none, or -errno. */
int tree_remove(const char *path);

struct tree_sum {
	uint64_t bytes; /* on the disk; a file with two names counts once */
	uint64_t files;
};

/* Measures the tree. Returns 0 or -errno. */
int tree_measure(const char *path, struct tree_sum *ret_sum);

/* Takes out of the tree what matches a line of `patterns`: fnmatch(3) over the path from the root,
 * without its slash, where * stands for slashes too; a line that begins with ! keeps what it
 * matches, and so do all above it. Also device nodes, sockets and pipes; set-id bits and the right
 * to write for others are taken from what stays. Returns 0 or -errno. */
int tree_strip(const char *path, struct str patterns);
