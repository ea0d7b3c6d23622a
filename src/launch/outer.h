#pragma once

#include "launch/id_range.h"

#include <stddef.h>
#include <sys/types.h>

/* Maps the outer user namespace of process pid: as root directly, as an ordinary user by
 * newuidmap(1) and newgidmap(1). Id 0 in it is the first id of root's range, or the user himself.
 * *ret_count is how many ids it has. Returns 0, or -errno with a sentence in text (size bytes). */
int outer_map(
	pid_t pid, const struct id_range *range, uint32_t *ret_count, char *text, size_t size);
