#pragma once

#include <stddef.h>
#include <stdint.h>

/* Files that have several names, by their inode: which of the names came first. */

struct links {
	struct links_row {
		uint64_t inode;
		size_t first; /* the owner's number of that name, plus 1; 0: a free row */
	} * rows;
	size_t n, size; /* size is a power of two */
};

#define LINKS_INIT                                                                                 \
	{                                                                                          \
		.rows = NULL, .n = 0                                                               \
	}

/* Notes a file's first name. The inode is not there yet. */
void links_add(struct links *links, uint64_t inode, size_t first);

/* Returns 0 with the number of the first name, or -ENOENT. */
int links_find(const struct links *links, uint64_t inode, size_t *ret_first);

/* Frees it; fine on LINKS_INIT. */
void links_fini(struct links *links);
