#pragma once

#include "wire/message.h"

#include <limits.h>
#include <stddef.h>

/*
 * Where on this host we may make control groups: the folders of our own group in the trees that
 * are mounted, found by /proc/self/mountinfo and /proc/self/cgroup.
 */

/* The group that processes of a scope are moved to, so that the scope may have children. */
#define CGROUP_OUTSIDE "outside-the-jails"

struct cgroup_host {
	enum wire_backend backend; /* NONE: text says what is missing */
	char unified[PATH_MAX];	   /* "" where there is none */
	char memory[PATH_MAX];	   /* these on v1 only */
	char pids[PATH_MAX];
	char cpu[PATH_MAX];
	char text[256];
};

/* Looks at the host. A host without usable trees is not an error: backend is then NONE. */
void cgroup_find(struct cgroup_host *ret_host);

/* The same from given texts, for tests; whether v2 has the controllers is not looked at. */
void cgroup_find_in(const char *mountinfo, const char *own, struct cgroup_host *ret_host);
