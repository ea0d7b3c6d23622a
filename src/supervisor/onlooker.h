#pragma once

#include "base/clock.h"
#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>

struct http_request;
struct json;

/*
 * Looks on while a run is under way, for the client (events, when it wants them) and for the audit
 * log (which files came out).
 */

#define ONLOOKER_FILES_MAX 200 /* named in a line of the audit log; all are counted */
#define ONLOOKER_PATHS_MAX ((size_t)64 * 1024) /* bytes of those names, in and out each */

struct onlooker {
	struct call_watch watch;
	struct http_request *request;
	const char *session;
	bool wants_events;
	bool has_started;   /* the event stream: a fault is an event from now on */
	usec_t patience_us; /* how long output may still wait for the client */
	uint64_t
		left_out[RUN_STREAM_MAX]; /* bytes of output that it was too slow for, to be told */
	struct json *line;		  /* of the audit log */
	struct json *files;		  /* in it: those that came out */
	size_t n_files;
	size_t path_bytes; /* of all of them */
};

/* Begins; the caller ends it with onlooker_fini. */
void onlooker_init(struct onlooker *onlooker, struct http_request *request, const char *session);
void onlooker_fini(struct onlooker *onlooker);

/* Answers with the whole answer, which is freed, or with the fault, as an event or as the response.
 */
void onlooker_end(struct onlooker *onlooker, struct call_result *result);
