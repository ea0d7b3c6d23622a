#pragma once

/*
 * The second wall over the mounts: below / reading and executing only, writing only below the home,
 * /tmp, /dev/shm and the few devices; with the scopes that the kernel knows, no signals and no
 * abstract sockets to the outside. landlock(7)
 */

/* What the rules name outside of a cell's own mounts, held for all cells that are copied from this
 * process: LANDLOCK_HELD descriptors from LANDLOCK_HELD_FD on. The rules go by inode, and these are
 * the template's in every cell. Returns 0 or -errno. */
#define LANDLOCK_HELD_FD 32
#define LANDLOCK_HELD	 6
int landlock_hold(void);

/* Writes the rules, as root of the finished cell, who may open every path, with what is held.
 * home_fd is the mount that has become the home; abi is what jaild found (>= 1). The caller closes
 * *ret_fd. Returns 0 or -errno. */
int landlock_prepare(unsigned abi, int home_fd, int *ret_fd);

/* Puts the calling process under the rules; no_new_privs must be set. Returns 0 or -errno. */
int landlock_restrict(int ruleset_fd);
