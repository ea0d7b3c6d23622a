#pragma once

#include "base/clock.h"
#include "http/server.h"

#include <pthread.h>

struct connection;
struct fault;

/*
 * The gate: one thread that accepts, waits for heads, refuses, and closes. A connection whose head
 * is whole and good is handed to a worker or to libmicrohttpd by on_head; everything before and
 * after that is here, at the price of a descriptor and 200 bytes for each idle connection.
 */

#define GATE_SCRATCH_SIZE                                                                          \
	((size_t)64 * 1024) /* bytes: peeked heads (HEAD_MAX + 1), dropped bodies */
#define GATE_LINGER_MAX 256 /* connections; more are closed at once */

struct gate {
	const struct http_limits *limits;
	/* Has somebody serve the connection, by gate_keep or gate_lend. False if nobody would have
	 * it. container_of leads to the gate's owner. */
	bool (*on_head)(struct gate *gate, struct connection *connection);

	/* The gate's thread only. */
	pthread_t thread;
	int epoll_fd, wake_fd;
	int listeners[HTTP_LISTENERS_MAX];
	size_t n_listeners;
	struct connection **all;
	size_t n, n_max;
	unsigned n_lingering;
	bool is_accepting;   /* the listeners are in the epoll set */
	usec_t accept_at_us; /* when they come back after a lack of descriptors; 0: not planned */
	char *scratch;

	/* Guarded by lock, with what connection.h says; never held across I/O. */
	pthread_mutex_t lock;
	struct connection **served; /* limits->served_max places; NULL is free */
	struct http_stats stats;
	size_t bodies_bytes; /* of limits->bodies_max_bytes */
	usec_t sweep_at_us;  /* no deadline is before this */
	bool has_over, is_quiesced, is_stopping;
};

/* Starts the thread over n listening sockets. Fields limits and on_head are set by the caller.
 * Returns 0 or -errno; end it with gate_stop. */
int gate_start(struct gate *gate, const int *listeners, size_t n);

/* Accepts no more. */
void gate_quiesce(struct gate *gate);

/* Cuts every connection, waits until the library has let go of all and the thread has ended. */
void gate_stop(struct gate *gate);

/* In on_head: the connection is served by a thread of ours, over its own descriptor. */
void gate_keep(struct gate *gate, struct connection *connection);

/* In on_head: a duplicate of the connection's descriptor for the library, which closes it; -1 if
 * there is none. */
int gate_lend(struct gate *gate, struct connection *connection);

/* The connection that was handed over as library_fd, or NULL. From any thread. */
struct connection *gate_find(struct gate *gate, int library_fd);

/* The library or the worker has let go: the gate closes the connection. From any thread, once. */
void gate_release(struct gate *gate, struct connection *connection);

/* The connection is cut after_ms from now unless it is released before; 0: never. From any thread
 * that holds a served connection. */
void gate_set_deadline(struct gate *gate, struct connection *connection, usec_t after_us);

/* Takes n bytes of limits.bodies_max_bytes; false if so many are not left. Given back by
 * gate_return_body. From any thread. */
bool gate_take_body(struct gate *gate, size_t n);
void gate_return_body(struct gate *gate, size_t n);

/* Counts a request that reached the routes. From any thread. */
void gate_count_request(struct gate *gate);
