#pragma once

/*
 * What the cells of a session use one after the other: a network namespace with loopback in it, up,
 * and nothing else, and an IPC namespace. Both belong to a user namespace of their own in which no
 * process lives, so no root of a cell owns them; jaild and its maker enter them as the parent.
 * Connections that end leave nothing behind (no TIME_WAIT); where a run has left System V objects,
 * no other one follows it (the maker looks).
 */
struct network {
	int fd; /* -1: there is none */
	int ipc_fd;
};

void network_init(struct network *network);

/* Returns 0 or -errno. The caller closes. network_namespaces(7), ipc_namespaces(7) */
int network_make(int proc_fd, struct network *ret_network);
void network_close(struct network *network);
