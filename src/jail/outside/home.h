#pragma once

#include "wire/limits.h"

#include <stdint.h>

/*
 * A session's home: a tmpfs of its own, attached only in jaild's private mount namespace under a
 * number, so that clones of it can be given to cells on every kernel from 5.14 on.
 */

struct home {
	int fd;	       /* O_PATH on its root; owned */
	int parent_fd; /* the folder of all homes; borrowed */
	uint32_t number;
};

/* Makes the home of the limits' size, owned by owner (uid and gid as jaild sees them), below
 * parent_fd. Returns 0 or -errno. */
int home_make(int parent_fd, uint32_t number, unsigned owner, const struct wire_limits *limits,
	struct home *ret_home);

/* A detached clone for a cell; the caller closes *ret_fd. Must be called in jaild's own mount
 * namespace. open_tree(2) */
int home_clone(const struct home *home, int *ret_fd);

/* How many bytes its files take. Returns 0 or -errno. fstatfs(2) */
int home_used(const struct home *home, uint64_t *ret_bytes);

/* Detaches and frees it; the pages go when the last cell and the last open file are gone. */
void home_close(struct home *home);
