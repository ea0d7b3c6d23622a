#pragma once

#include "wire/message.h"

struct json;
struct pool;

/*
 * The sessions that jaild keeps ready for new keys, as whoever serves asks for them.
 */

/* Asks a jaild that was just attached for so many with the profile's limits. Without them all
 * works, slower. */
void spares_ask(struct pool *pool, unsigned wanted, const char *profile);

/* What jaild says now, 0 while it is not there. Waits for its answer. */
void spares_status(struct pool *pool, struct wire_status_is *ret_status);

/* The same as JSON, into an answer. */
void spares_tell(struct pool *pool, unsigned wanted, struct json *body);

/* Rows of a table of metrics, for a struct with `jaild` (the status) and `spares_wanted`. */
#define SPARES_METRICS(METRIC)                                                                     \
	METRIC("cloche_jail_spares", "gauge", "Spare sessions that are ready.", jaild.spares)      \
	METRIC("cloche_jail_spares_wanted", "gauge", "Spare sessions that there are to be.",       \
		spares_wanted)                                                                     \
	METRIC("cloche_jail_spares_taken_total", "counter", "Sessions that began as a spare one.", \
		jaild.spares_taken)                                                                \
	METRIC("cloche_jail_spares_missed_total", "counter", "Sessions that found none ready.",    \
		jaild.spares_missed)                                                               \
	METRIC("cloche_jail_spares_lost_total", "counter", "Spare sessions that went bad.",        \
		jaild.spares_lost)
