#pragma once

#include "jaild/loop.h"
#include "wire/limits.h"

#include <stdint.h>

struct jaild;
struct session;

/*
 * Whole sessions that wait, built and without a key: id pair, memory group, home, network, and a
 * cell with its init in it. A client that opens a session with the same limits gets one at once.
 * They are built one step at a time while no request comes. Embedded in jaild.
 */
struct spares {
	struct wire_limits limits;
	unsigned wanted; /* 0: none */
	unsigned n; /* in jaild's list of sessions, those that are being built or dropped too */
	uint64_t taken;
	uint64_t missed;
	uint64_t lost;
	struct timer timer; /* builds them */
};

/* From now on keeps so many with these limits; drops what does not fit. */
void spares_keep(struct jaild *jaild, unsigned wanted, const struct wire_limits *limits);

/* A spare session with these limits, which is an ordinary one then and has no key yet: name it. Or
 * NULL. */
struct session *spares_take(struct jaild *jaild, const struct wire_limits *limits);

/* When the house is full with the spare ones: drops one for a session that is opened otherwise. */
void spares_make_room(struct jaild *jaild);

/* To be called when a request has been handled: puts the building off a little. */
void spares_later(struct jaild *jaild);

/* The cell of a spare session is gone without having been taken: frees the session, and has another
 * built after a while. */
void spares_lose(struct session *session);

/* How many are ready. */
unsigned spares_ready(const struct jaild *jaild);
