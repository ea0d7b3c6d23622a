#pragma once

#include "base/clock.h"
#include "base/str.h"

#include <stdbool.h>

struct http_request;

/*
 * An event stream as the answer of a handler: start it, write events, return. While the handler is
 * silent a comment line goes out every 15 s by itself. HTML Living Standard, section 9.2
 */

#define HTTP_SSE_BUFFER_MAX (64u * 1024) /* bytes on the way to the client; then writing waits */

struct head;

/* True if the client accepts text/event-stream (with q above 0). */
bool sse_is_accepted(const struct head *head);
bool http_sse_is_accepted(const struct http_request *request);

/* Answers 200 with text/event-stream; the route has_events or a body. A HEAD request gets the head,
 * and every event -EPIPE. */
void http_sse_start(struct http_request *request);

/* Writes one event; name is a literal of ours, data is bytes (each line becomes a data: line; CR
 * LF, CR and LF end lines). Waits while the client reads slowly. Any thread of the handler's may
 * call it, one at a time. Returns 0, or -EPIPE when the client is gone: stop the work. */
int http_sse_event(struct http_request *request, const char *name, struct str data);

/* The same for data of one line that need not arrive: waits at most wait_us until there is room for
 * the whole event, which must be shorter than HTTP_SSE_BUFFER_MAX. Returns 0, -EAGAIN if nothing of
 * it was written, or -EPIPE. */
int http_sse_offer(struct http_request *request, const char *name, struct str line, usec_t wait_us);
