#pragma once

#include <stdbool.h>
#include <stdint.h>

struct attention;

/*
 * Who waits for a place, in the order in which places are given: a tenant's share (the places it
 * holds, and its waiters before this one) counts first, then who came first. So a tenant that asks
 * thirty times at once waits behind one that asks once. The caller's lock guards it.
 */

/* Embedded in its owner, on the queue from queue_add to queue_remove or its eviction. */
struct queue_waiter {
	struct queue_waiter *next;
	const char *tenant;
	const char *key;
	struct attention *attention; /* raised when something changes for it */
	uint64_t number;	     /* by arrival */
	bool is_evicted;	     /* off the queue: somebody with a smaller share came */
};

/* How many places a tenant holds. */
struct queue;
typedef unsigned queue_share(const struct queue *queue, const char *tenant);

/* Embedded in its owner, from whom share finds out. */
struct queue {
	struct queue_waiter *first; /* by arrival */
	unsigned n;
	unsigned max;
	uint64_t next_number;
	queue_share *share;
};

/* Adds a waiter. Returns 0, or -EAGAIN when the queue is full of such whose turn comes before; else
 * the last in turn is evicted and told. */
int queue_add(struct queue *queue, struct queue_waiter *waiter);

/* Takes it off; fine if it is not on it. */
void queue_remove(struct queue *queue, struct queue_waiter *waiter);

/* Its turn: 1 is the next. */
unsigned queue_position(const struct queue *queue, const struct queue_waiter *waiter);

/* Raises ATTENTION_QUEUE for all: something changed. */
void queue_wake(const struct queue *queue);
