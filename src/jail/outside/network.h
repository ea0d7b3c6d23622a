#pragma once

/* Makes a network namespace with loopback in it, up, and nothing else. It belongs to a user
 * namespace of its own in which no process lives, so no root of a cell owns it; jaild enters it as
 * the parent. Connections that end leave nothing behind in it (no TIME_WAIT). Returns 0 and the
 * namespace's descriptor, which the caller closes, or -errno. network_namespaces(7) */
int network_make(int proc_fd, int *ret_fd);
