#pragma once

#include "jail/cgroup/cgroup.h"
#include "launch/cgroup_find.h"

#include <sys/types.h>

/*
 * The group that this instance works in: cloche-XXXXXXXX below our own group, in every tree, given
 * to jaild's uid. A lock on it, in each tree, tells other instances that it is in use; the kernel
 * drops the locks with the launcher, and the next start removes what is no longer locked.
 */

#define DELEGATE_NAME_SIZE 24
#define DELEGATE_TREES_MAX 4

/* Whom the group is given to: jaild. */
struct delegate_owner {
	uid_t uid;
	gid_t gid;
};

struct delegation {
	struct cgroup_host *host;	  /* borrowed */
	char name[DELEGATE_NAME_SIZE];	  /* "" before it is made */
	int lock_fds[DELEGATE_TREES_MAX]; /* -1 where there is none */
};

/* Of no group yet. */
struct delegation delegation_none(struct cgroup_host *host);

/* Removes the groups that earlier lives left behind, with all processes in them. */
void delegate_sweep(struct cgroup_host *host);

/* Makes the group for owner and opens the folders of *ret_root. Returns 0 or -errno. */
int delegate_make(struct cgroup_host *host, const struct delegate_owner *owner,
	struct delegation *ret_delegation, struct cgroup_root *ret_root);

/* Lets the locks go. */
void delegate_unlock(struct delegation *delegation);

/* Closes the folders that delegate_make opened. */
void delegate_root_close(struct cgroup_root *root);

/* Moves jaild's process into the group's daemon/, before it has been told to go on. */
int delegate_attach(const struct delegation *delegation, pid_t pid);

/* Ends what is in this instance's group, waits until it is empty and removes the folders. */
void delegate_remove(const struct delegation *delegation);
