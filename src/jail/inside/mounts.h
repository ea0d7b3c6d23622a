#pragma once

#include "wire/limits.h"

/* The mounts that a cell adds to its copy of the template. All paths are literals of ours; nothing
 * untrusted has run yet. Each returns 0 or -errno. */

/* Attaches the detached clone home_fd at CELL_HOME. move_mount(2) */
int mounts_attach_home(int home_fd);

/* Fresh /tmp, /dev/shm and CELL_RUN of the sizes of the limits, bounded in inodes too, nosuid and
 * nodev. mount(2), tmpfs(5) */
int mounts_make_tmpfs(const struct wire_limits *limits);

/* Attaches the detached procfs proc_fd at CELL_PROC. */
int mounts_attach_proc(int proc_fd);

/* Writes code as CELL_CODE_PYTHON or CELL_CODE_BASH (path), readable by all. */
int mounts_write_code(const char *path, const void *code, unsigned long size);

/* Makes CELL_RUN read-only for good. */
int mounts_seal_code(void);
