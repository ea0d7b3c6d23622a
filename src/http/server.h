#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An HTTP/1.1 server on libmicrohttpd: a table of routes, and a thread for each request in which
 * its handler runs as straight-line code and may block (a worker's, the library's, or its own). A
 * request reaches the library only when its whole head has been judged strictly
 * (http/syntax/head.h), one request for each connection. Handlers use http/request.h and
 * http/respond.h, event streams http/sse.h. RFC 9110, RFC 9112, decision 30
 */

struct http_request;
struct http_server;

#define HTTP_LISTENERS_MAX 4 /* unix, loopback in two families, and one to spare */

/* What a route does with the body of a request. */
enum http_body {
	HTTP_BODY_NONE,	  /* ignored: the answer does not wait for it */
	HTTP_BODY_JSON,	  /* application/json (else 415), read whole before the handler runs */
	HTTP_BODY_STREAM, /* any type; the handler reads it with http_body_read */
};

/*
 * One row of the table. A pattern is literal segments and parameters: "{key}" takes one segment,
 * "{path...}", last, takes the rest. Paths are decoded segment by segment; refused with 400 before
 * any route is looked at: bad percent-encoding, %00, %2f, empty segments, "." and ".." (encoded or
 * not). A "{key}" must be UTF-8; a "{path...}" is bytes without NUL, at most HTTP_PATH_MAX (414).
 * A path that no pattern has is 404, a method that its patterns have not is 405 with Allow.
 */
struct http_route {
	const char *method;  /* "GET" serves HEAD too: the handler runs, the body is left out */
	const char *pattern; /* "/v1/sessions/{key}/files/{path...}" */
	unsigned scope;	     /* for admit; means nothing here */
	enum http_body body;
	uint64_t body_max; /* bytes; more is 413, by Content-Length before anything is read */
	void (*handle)(struct http_request *request);
	/* May call http_sse_start; GET only. One with a body may anyway if the client accepts
	 * events. */
	bool has_events;
	bool has_file; /* may call http_respond_file; GET only */
};

#define HTTP_PATH_MAX 4096 /* bytes of a decoded {path...}: what jaild takes (decision 4) */

/* Requests at once, and connections without a whole head, unless a test needs others. */
#define HTTP_SERVED_MAX	 128
#define HTTP_WAITING_MAX 1024

/* Bounds; HTTP_LIMITS_DEFAULT unless a test needs others. Times in milliseconds. */
struct http_limits {
	unsigned waiting_max; /* connections without a whole head; one more is 503 for the oldest */
	unsigned served_max;  /* requests at once; one more is 503 */
	unsigned head_ms;     /* for the whole head, else 408 */
	unsigned body_ms;     /* a body may take this long and, for its bytes so far, ... */
	unsigned body_rate_bytes_per_s; /* ... the time they take at this rate, else 408 */
	unsigned answer_ms; /* the same two for what we send, else the connection ends */
	unsigned answer_rate_bytes_per_s;
	unsigned comment_ms; /* silence of an event stream before a comment line */
	unsigned event_ms;   /* a reader of events that takes nothing so long is gone */
	unsigned
		bodies_max_bytes; /* of all HTTP_BODY_JSON bodies in memory; one more byte is 503 */
	unsigned linger_ms;	  /* at the end: for unread bytes of the client to be dropped */
};

/* 1,024 waiting and 128 served are decided (issue 3); 10 s for a head and 16 KiB/s for bodies let a
 * bad mobile line through and end a drip; what is being sent holds a file or a large answer, so it
 * has to be taken at 256 KiB/s and in 30 s more; 15 s between comments is decision 21; 64 MiB of
 * bodies are five of the largest (decision 31), or 128 of half a MiB. */
#define HTTP_LIMITS_DEFAULT                                                                        \
	((struct http_limits){ .waiting_max = HTTP_WAITING_MAX,                                    \
		.served_max = HTTP_SERVED_MAX,                                                     \
		.head_ms = 10000,                                                                  \
		.body_ms = 10000,                                                                  \
		.body_rate_bytes_per_s = 16384,                                                    \
		.answer_ms = 30000,                                                                \
		.answer_rate_bytes_per_s = 262144,                                                 \
		.comment_ms = 15000,                                                               \
		.event_ms = 10000,                                                                 \
		.bodies_max_bytes = 64u * 1024 * 1024,                                             \
		.linger_ms = 2000 })

/* Embed it: http_config_get(request) and container_of lead a handler to its program's state. It and
 * what it points to must outlive the server. */
struct http_config {
	const struct http_route *routes;
	size_t n_routes;
	/* Runs when a route is found, before a byte of the body is read and before 100-continue.
	 * Returns true to go on, or false after it has answered (401, 403 ...). NULL admits all. */
	bool (*admit)(struct http_request *request, const struct http_route *route);
	/* Its counterpart: runs for every request that admit was asked about, when the request is
	 * over: the answer is sent or given up, its file closed. Only the note is left. NULL: not
	 * needed. */
	void (*release)(struct http_request *request);
	/* Runs before n more bytes of a HTTP_BODY_JSON body are kept; false: they may not be (429).
	 * NULL: limits.bodies_max_bytes alone bounds them. */
	bool (*take_body)(struct http_request *request, size_t n);
	const char *no_route_advice; /* of the 404 for a path of no route; NULL: the code's */
	size_t note_size;	     /* bytes of http_note_get of each request */
	struct http_limits limits;
};

/* Counters since the start, and how many now. */
struct http_stats {
	unsigned waiting;  /* connections whose head is not whole */
	unsigned served;   /* requests in handlers, or being answered */
	uint64_t accepted; /* connections */
	uint64_t requests; /* that reached the routes */
	uint64_t refused;  /* before a route: malformed, too slow, too large, a full house */
};

/*
 * Starts a server on n listening stream sockets (TCP or unix; they stay the caller's, become
 * non-blocking and must outlive the server). *ret_server is ended by http_server_stop. Returns 0,
 * -EINVAL for more than HTTP_LISTENERS_MAX or a route with has_events or has_file that is no GET
 * (the log names it), or another -errno. Ignores SIGPIPE for the process.
 * Needs a descriptor for each waiting and two for each served connection (RLIMIT_NOFILE is the
 * caller's; where they end, accepting pauses), and one or two threads for each served one.
 */
int http_server_start(const struct http_config *config, const int *listeners, size_t n,
	struct http_server **ret_server);

/* Accepts no more; what is being served goes on. For the drain before http_server_stop. */
void http_server_quiesce(struct http_server *server);

/* Ends all connections: http_is_gone becomes true in the handlers that still run, and this waits
 * for them. Then frees the server; NULL is fine. */
void http_server_stop(struct http_server *server);

/* The figures now. */
void http_server_stats(struct http_server *server, struct http_stats *ret_stats);
