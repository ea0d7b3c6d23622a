#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads an event stream, in pieces of any size. HTML Living Standard, section 9.2.6: lines end with
 * CR LF, CR or LF; `data` lines are joined by LF; a blank line ends an event; an event without data
 * is none; comments and the fields id and retry mean nothing here. The two bounds are ours.
 */

#define EVENTS_NAME_MAX 64 /* bytes of an event's name; ours have at most 7 */

struct events;

/* One event; both slices die with the call. Below 0: stop. */
typedef int events_on_event(struct events *events, struct str name, struct str data);

/* Embedded in its owner; container_of gives the owner back in on_event. */
struct events {
	events_on_event *on_event;
	struct buf line; /* begun */
	struct buf data; /* of the event under way */
	char name[EVENTS_NAME_MAX + 1];
	bool has_data;
	bool is_after_cr; /* a LF now belongs to the line before */
	bool is_begun;	  /* a byte order mark can no longer come */
};

/* Begins; an event's data has at most data_max bytes. End it with events_fini. */
void events_init(struct events *events, size_t data_max, events_on_event *on_event);
void events_fini(struct events *events);

/* Takes the next bytes. Returns 0; -ENOBUFS for a line or data over the bound; or what on_event
 * returned below 0. After an error nothing more may be fed. */
int events_feed(struct events *events, struct str bytes);
