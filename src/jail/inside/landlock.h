#pragma once

/*
 * The second wall over the mounts: below / reading and executing only, writing only below the home,
 * /tmp, /dev/shm and the few devices; with the scopes that the kernel knows, no signals and no
 * abstract sockets to the outside. landlock(7)
 */

/* Writes the rules, as root of the finished cell, who may open every path. abi is what jaild found
 * (>= 1). The caller closes *ret_fd. Returns 0 or -errno. */
int landlock_prepare(unsigned abi, int *ret_fd);

/* Puts the calling process under the rules; no_new_privs must be set. Returns 0 or -errno. */
int landlock_restrict(int ruleset_fd);
