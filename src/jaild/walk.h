#pragma once

#include "jaild/session.h"

/* A listing under way: a child process that reads the home, watched by its pidfd (decision 4). */
struct walk {
	struct session *session; /* borrowed; outlives the walk */
	uint32_t seq;
	int pidfd;
	int listing_fd; /* memfd that the child fills */
	struct watch death;
	struct timer timer;
};

/* Starts a listing; it answers the request seq when it ends. Returns 0 or -errno, -EBUSY while the
 * session has another one. */
int walk_start(struct session *session, uint32_t seq, uint32_t flags);

/* Kills it; its answer is a refusal. */
void walk_stop(struct walk *walk);
