#pragma once

#include "jaild/jaild.h"
#include "wire/message.h"

#include <stdbool.h>

struct session;

/*
 * A session has one run at a time, of whichever kind. A request that comes while the kernel still
 * frees what an answered run has left, or while a live interpreter dies, waits for that: what is
 * left of the one would count as the other's.
 */

/* What a run was asked with; its descriptors (a call's by enum wire_live_fd) belong to whoever
 * holds this. */
struct run_request {
	struct reply reply;
	bool is_live;
	uint32_t warm;	/* enum wire_warm; of a live one nothing */
	uint32_t flags; /* enum wire_live_flag, of a live one */
	uint64_t wall_ms;
	usec_t accepted_us;
	int fds[WIRE_RUN_FDS];
};

/* Embedded in the session. */
struct turn {
	bool is_taken;
	struct run_request request;
};

void turn_init(struct turn *turn);

/* Begins the run, or has it wait for its turn. The descriptors are taken over in any case; a
 * failure is answered. */
void turn_take(struct session *session, struct run_request *request);

/* Has a request wait, whose descriptors are taken over; no other one waits. */
void turn_wait(struct session *session, struct run_request *request);

/* Begins the request that waits, if there is one and it is its turn. */
void turn_go_on(struct session *session);

/* Forgets one that waits, if it is this client's; 0: anybody's. It is refused. */
void turn_forget(struct session *session, uint64_t client);
