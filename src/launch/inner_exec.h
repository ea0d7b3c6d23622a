#pragma once

#include "jail/cgroup/cgroup.h"
#include "launch/launcher_files.h"

#include <stdint.h>

struct options;

/* What the child of the launcher needs to become jaild. */
struct inner {
	const struct options *options;
	const struct launcher_files *files;
	const struct cgroup_root *cgroups;
	uint32_t ids;
	int launcher_fd; /* hangs up at the launcher's death */
};

/* In the outer namespaces, whose maps are written: takes id 0 there and executes this program again
 * as jaild, so that its memory belongs to the outer user namespace. Returns only on a failure,
 * which it has told to the client. */
void inner_exec(const struct inner *inner);
