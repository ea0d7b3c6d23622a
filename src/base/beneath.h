#pragma once

#include "base/str.h"

#include <limits.h>
#include <sys/types.h>

/*
 * Opens names that hostile code may have made, from a held folder: openat2(2) with RESOLVE_BENEATH,
 * RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS and RESOLVE_NO_XDEV. Nothing here allocates.
 */

#define BENEATH_PATH_MAX 4096 /* bytes of a relative path, decision 4 */

/* Owner for folders that are made on the way. */
struct beneath_owner {
	uid_t uid;
	gid_t gid;
};

/* Opens path beneath dirfd; O_CLOEXEC and O_NOCTTY are added to flags, mode counts with O_CREAT.
 * Returns the descriptor (the caller closes) or -errno: -ELOOP for a symlink, -EXDEV for a way out
 * or another mount, -ENAMETOOLONG, -EINVAL for "" . */
int beneath_open(int dirfd, const char *path, int flags, mode_t mode);

/* The same for names that somebody else's root file system has, beneath dirfd: links lead where
 * they would if dirfd were the root (RESOLVE_IN_ROOT), so never out of it; mounts are crossed. */
int beneath_open_as_root(int dirfd, const char *path, int flags);

/* Opens a regular file for reading without ever blocking (O_NONBLOCK stays set; it means nothing
 * for such files). The caller closes *ret_fd. Returns 0, -EINVAL if it is no regular file, or as
 * beneath_open (-ENXIO for a socket). */
int beneath_open_regular(int dirfd, const char *path, int *ret_fd);

/* Opens (O_PATH) the folder that is to hold the last component of path, and copies that component.
 * With make, missing folders on the way are made, 0700 and owned by *make; NULL makes none. The
 * caller closes *ret_fd. Returns 0, -EINVAL for an absolute path and for a component that is empty,
 * "." or "..", -ENAMETOOLONG, -ENOTDIR, or as beneath_open. */
int beneath_open_parent(int dirfd, const char *path, const struct beneath_owner *make,
	char ret_name[NAME_MAX + 1], int *ret_fd);

/* Copies one component of a path into ret_name. Returns 0, -EINVAL for one that is empty, "." or
 * "..", or -ENAMETOOLONG. */
int beneath_component(struct str part, char ret_name[NAME_MAX + 1]);
