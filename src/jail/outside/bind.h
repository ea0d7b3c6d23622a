#pragma once

#include <stdint.h>

/* Attaches a read-only, nosuid, nodev copy of source_fd/name (a folder with all its sub-mounts, or
 * a file; with name "" source_fd itself) at root_fd/target, which must exist. Returns 0 or -errno.
 * open_tree(2), mount_setattr(2) */
int bind_read_only(int source_fd, const char *name, int root_fd, const char *target);

/* The same for a device node: without nodev, but noexec. */
int bind_device(int source_fd, const char *name, int root_fd, const char *target);

/* Makes the attached mount root_fd the root of this process's mount namespace and detaches the old
 * one with all that is on it. Returns 0 or -errno. pivot_root(2) */
int bind_pivot(int root_fd);
