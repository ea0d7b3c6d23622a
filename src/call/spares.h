#pragma once

#include "wire/message.h"

struct pool;

/*
 * The sessions that jaild keeps ready for new keys, as whoever serves asks for them.
 */

/* Asks a jaild that was just attached for so many with the profile's limits. Without them all
 * works, slower. */
void spares_ask(struct pool *pool, unsigned wanted, const char *profile);

/* What jaild says now, 0 while it is not there. Waits for its answer. */
void spares_status(struct pool *pool, struct wire_status_is *ret_status);
