#pragma once

#include <stdbool.h>
#include <stdint.h>

struct attention;

/*
 * Who waits for a place, in the order in which places are given: first whose tenant has less (the
 * places it holds, and its waiters before this one), then whose tenant was given a place longer
 * ago, then who came first. So a tenant that asks thirty times at once waits behind one that asks
 * once. The caller's lock guards it.
 */

#define QUEUE_TENANT_SIZE 65 /* of a name, with NUL */
/* Tenants whose last place is remembered; one that is forgotten counts as never served. */
#define QUEUE_SERVED_MAX 64

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
	uint64_t next_number; /* of arrivals and of places given */
	queue_share *share;
	struct queue_served {
		char tenant[QUEUE_TENANT_SIZE];
		uint64_t number; /* 0: unused */
	} served[QUEUE_SERVED_MAX];
};

/* Adds a waiter. Returns 0, or -EAGAIN when the queue is full of such whose turn comes before; else
 * the last in turn is evicted and told. */
int queue_add(struct queue *queue, struct queue_waiter *waiter);

/* Takes it off; fine if it is not on it. */
void queue_remove(struct queue *queue, struct queue_waiter *waiter);

/* Its turn: 1 is the next. */
unsigned queue_position(const struct queue *queue, const struct queue_waiter *waiter);

/* The tenant was given a place, from the queue or past an empty one. */
void queue_serve(struct queue *queue, const char *tenant);

/* Raises ATTENTION_QUEUE for all: something changed. */
void queue_wake(const struct queue *queue);
