#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "http/answer.h"
#include "http/exchange/exchange.h"
#include "http/request.h"
#include "http/server.h"
#include "http/syntax/path.h"

#include <pthread.h>

struct connection;
struct gate;

/*
 * A request being handled: what http/request.h, respond.h and sse.h work on. Made by the library's
 * thread at the head, freed there after the handler has ended.
 */

/* Bytes of an event stream on their way, guarded by the exchange's lock. */
struct stream {
	char *ring; /* HTTP_SSE_BUFFER_MAX bytes, owned; NULL: not started */
	size_t start, used;
	bool is_ended;	/* nothing more will be added */
	bool is_broken; /* the client has not taken anything for limits.event_ms */
};

struct http_request {
	const struct http_config *config;
	struct gate *gate;
	struct connection *connection;
	const struct http_route *route; /* NULL until one is found */
	char id[ID_LEN + 1];
	usec_t start_us;
	char *decoded; /* path and query, owned */
	struct path_parameters parameters;
	struct query query;
	struct buf body; /* HTTP_BODY_JSON */
	uint64_t body_read_bytes;
	usec_t body_waited_us;
	bool is_body_whole; /* all of Content-Length, or the end, has been read */
	struct answer answer;
	struct stream stream;
	struct exchange exchange;
	void *note;
	bool is_at_once; /* in the library's or a worker's thread */
	pthread_t thread;
	bool has_thread;
	bool is_asked; /* config.admit was called: config.release is to be */
};

/* Makes the request of a connection and handles it, in a thread of its own (256 KiB of stack) if it
 * has events or a body that is still to come: http/exchange/exchange.h tells what comes of it.
 * Without a thread it is answered 503. The caller frees it with handling_free. */
struct http_request *handling_new(
	const struct http_config *config, struct gate *gate, struct connection *connection);

/* The library has closed the connection: waits for the thread, logs, frees. */
void handling_free(struct http_request *request);
