#pragma once

/*
 * The second wall over the mounts: below / reading and executing only, writing only below the home,
 * /tmp, /dev/shm and the few devices; with the scopes that the kernel knows, no signals and no
 * abstract sockets to the outside. no_new_privs must be set. abi is what jaild found (>= 1).
 * Returns 0 or -errno. landlock(7)
 */
int landlock_restrict(unsigned abi);
