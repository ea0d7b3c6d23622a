#pragma once

#include <stddef.h>

/* What the launcher opens while it is still the person who started it. */
struct launcher_files {
	int init_fd; /* sealed copy of cloche-init: no name in any cell, nothing to write to */
};

/* Finds cloche-init beside this program and copies it. Returns 0, or
 * -errno with a sentence in text (size bytes). */
int launcher_files_open(struct launcher_files *ret_files, char *text, size_t size);
