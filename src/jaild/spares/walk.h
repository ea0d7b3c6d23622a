#pragma once

#include "jaild/session.h"

/* A listing under way: a child process that reads the home, watched by its pidfd (decision 4). */
struct walk {
	struct session *session; /* borrowed; outlives the walk */
	struct reply reply;
	pid_t pid;
	int pidfd;
	int listing_fd; /* memfd that the child fills */
	struct watch death;
	struct timer timer;
};

/* True if nothing is in the session's home: two short reads, however many entries there are. */
bool walk_home_is_empty(const struct session *session);

/* Starts a listing; it answers when it ends. Returns 0 or -errno, -EBUSY while the
 * session has another one, -ERANGE for a flag that there is not. */
int walk_start(struct session *session, const struct reply *reply, const struct wire_list *request);

/* Kills it; its answer is a refusal. */
void walk_stop(struct walk *walk);
