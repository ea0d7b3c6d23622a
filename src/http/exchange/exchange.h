#pragma once

#include "base/clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Where the two threads of a request meet: libmicrohttpd's thread of the connection, which moves
 * bytes and must not be kept from it by handlers, and the handler's own, which is straight-line
 * code. At any time one of them waits for the other.
 */

enum exchange_body {
	EXCHANGE_BODY_UNASKED, /* the handler has not read: no 100-continue yet */
	EXCHANGE_BODY_FLOWING,
	EXCHANGE_BODY_ENDED,
};

struct exchange {
	pthread_mutex_t lock; /* guards all below, and the request's stream */
	pthread_cond_t changed;
	enum exchange_body body;
	const char *chunk; /* lent by the library's thread while it waits */
	size_t chunk_left;
	bool is_answered; /* the library may send the answer */
	bool is_direct;	  /* the handler's thread has sent it: the library just closes */
	bool is_gone;	  /* the library has closed: nobody sends or takes bytes any more */
};

void exchange_init(struct exchange *exchange);
void exchange_fini(struct exchange *exchange);

/* Library's thread, at the head: waits until the handler wants the body (false) or has answered
 * (true). */
bool exchange_begin(struct exchange *exchange);

/* Library's thread: lends n bytes of the body and waits until they are read. False: close. */
bool exchange_offer(struct exchange *exchange, const char *chunk, size_t n);

/* Library's thread: the body is whole; waits for the answer. False: close. */
bool exchange_end(struct exchange *exchange);

/* Library's thread: the connection is closed. */
void exchange_close(struct exchange *exchange);

/* Handler's thread: reads up to size bytes, waiting at most wait_us; *waited_us grows by what was
 * waited. Returns the bytes, 0 at the end, -ETIMEDOUT, -ECONNRESET. */
ssize_t exchange_read(
	struct exchange *exchange, void *data, size_t size, usec_t wait_us, usec_t *waited_us);

/* Handler's thread, with the answer ready. In the middle of a body libmicrohttpd takes no answer:
 * then false, the caller sends it itself and calls exchange_answer_direct. is_whole says that the
 * caller has seen the whole body, whose end only the library does not know yet. */
bool exchange_answer(struct exchange *exchange, bool is_whole);
void exchange_answer_direct(struct exchange *exchange);

/* Waits for a change, at most until at_us (clock_now_us; UINT64_MAX: for ever). The lock is held.
 * False when the time is over. */
bool exchange_wait(struct exchange *exchange, usec_t at_us);
