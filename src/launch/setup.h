#pragma once

#include "jail/cgroup/cgroup.h"

#include <stdint.h>

/*
 * What the launcher hands to jaild through the exec: one flat struct in a sealed memfd, whose
 * number is jaild's only argument. The descriptors in it are inherited.
 */

#define SETUP_MAGIC 0x31505453u /* "STP1" */

struct setup {
	uint32_t magic;
	int32_t client_fd; /* SEQPACKET to cloche run or the supervisor */
	int32_t init_fd;   /* sealed memfd of cloche-init */
	int32_t rootfs_fd; /* O_PATH on the image's folder; -1: the host's /usr */
	struct cgroup_root cgroups;
	uint32_t ids;		  /* how many ids the outer namespace maps, from 0 */
	uint32_t zygote_max_runs; /* runs of one zygote; 0: none is started */
	uint32_t stage_to_fail;
	uint32_t log_level; /* enum log_level */
};
