#pragma once

#include "base/clock.h"
#include "http/request.h"
#include "http/syntax/head.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct buf;
struct fault;

/*
 * One connection of a client, owned by the gate (http/gate.h) from accept to close. It carries one
 * request. While it is served, state to deadline_us are guarded by the gate's lock.
 */

#define CONNECTION_DROP_MAX                                                                        \
	(256u * 1024 * 1024) /* bytes read and dropped after a refusal: a body                     \
				that a client sends before it reads */

enum connection_state {
	CONNECTION_WAITING,   /* for its whole head */
	CONNECTION_SERVED,    /* libmicrohttpd has a duplicate of fd */
	CONNECTION_LINGERING, /* answered: the client's last bytes are dropped until it closes */
};

struct connection {
	enum connection_state state;
	int fd;
	int library_fd;	    /* the number of the duplicate while the library has it, else -1 */
	bool is_started;    /* the library has found its connection */
	bool has_request;   /* its one request has begun; of the library's thread only */
	bool is_over;	    /* the library has let go */
	bool is_watched;    /* by the gate's epoll; of its thread only */
	bool is_shut;	    /* whoever answered has closed our half */
	usec_t deadline_us; /* 0: none */
	size_t index;	    /* in the gate's table */
	size_t scanned;	    /* bytes of the head that head_scan has seen */
	size_t dropped;
	struct http_peer peer;
	char *bytes;	   /* the head and what is known of the body; NULL before it is whole */
	struct head *head; /* judged; slices into bytes */
	struct str body;   /* all of it, in bytes, if it came with the head; else .p is NULL */
};

/* Where a connection came from, as accept(2) tells it. */
union connection_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* Takes fd over, non-blocking, and finds out who the peer is. The caller frees it. */
struct connection *connection_new(int fd, const union connection_address *address);

/* Closes and frees; NULL is fine. */
void connection_free(struct connection *connection);

/* Looks at what has come, without taking it from the socket; scratch has HEAD_MAX + 1 bytes.
 * Returns 1 when the head is whole and good, 0 if more is needed, -EBADMSG with *ret_fault to
 * refuse it, -ECONNRESET when the client is gone. */
int connection_peek(struct connection *connection, char *scratch, struct fault *ret_fault);

/* Reads and drops at most a few times size bytes into scratch. True when there is nothing more to
 * wait for: the client has closed, or CONNECTION_DROP_MAX is reached. */
bool connection_drop(struct connection *connection, char *scratch, size_t size);

/* Appends a whole response that tells of the fault and ends the connection; id goes into its
 * X-Request-Id. */
void connection_format_refusal(const struct fault *fault, const char *id, struct buf *out);

#define CONNECTION_REFUSAL_MAX (8u * 1024) /* bytes: PROBLEM_SIZE_MAX and a head */
