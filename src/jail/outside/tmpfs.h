#pragma once

#include <stdint.h>

/* A tmpfs by the new mount API. Zero size or inodes: the kernel's default. */
struct tmpfs_options {
	uint64_t size_bytes;
	uint64_t inodes;
	unsigned owner;	  /* uid and gid of the root, numbers of the caller's user namespace */
	const char *mode; /* octal */
};

/* Makes a tmpfs, nosuid and nodev, not attached anywhere; the caller closes *ret_fd. Returns 0 or
 * -errno. fsopen(2), tmpfs(5) */
int tmpfs_make(const struct tmpfs_options *options, int *ret_fd);
