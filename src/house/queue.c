/*
 * Theory of operation: nothing is kept sorted. A waiter's turn follows from (share of its tenant +
 * waiters of the same tenant before it, arrival); with 32 waiters that is counted anew each time it
 * is asked for, and no order can become stale when a session closes.
 */
#include "house/queue.h"

#include "house/attention.h"

#include <errno.h>
#include <string.h>

/* What a waiter's tenant has ahead of it: places, and waiters that came earlier. */
static unsigned burden(const struct queue *queue, const struct queue_waiter *waiter)
{
	unsigned n = queue->share(queue, waiter->tenant);

	for (const struct queue_waiter *at = queue->first; at; at = at->next)
		if (at->number < waiter->number && strcmp(at->tenant, waiter->tenant) == 0)
			n++;
	return n;
}

unsigned queue_position(const struct queue *queue, const struct queue_waiter *waiter)
{
	unsigned own = burden(queue, waiter), position = 1;

	for (const struct queue_waiter *at = queue->first; at; at = at->next) {
		unsigned other;

		if (at == waiter)
			continue;
		other = burden(queue, at);
		if (other < own || (other == own && at->number < waiter->number))
			position++;
	}
	return position;
}

/* The one whose turn is last; the queue is not empty. */
static struct queue_waiter *last_in_turn(const struct queue *queue)
{
	struct queue_waiter *last = queue->first;

	for (struct queue_waiter *at = queue->first; at; at = at->next)
		if (queue_position(queue, at) > queue_position(queue, last))
			last = at;
	return last;
}

int queue_add(struct queue *queue, struct queue_waiter *waiter)
{
	struct queue_waiter **at = &queue->first;

	if (queue->max == 0)
		return -EAGAIN;
	waiter->next = NULL;
	waiter->is_evicted = false;
	waiter->number = queue->next_number++;
	while (*at)
		at = &(*at)->next;
	*at = waiter;
	if (++queue->n > queue->max) {
		struct queue_waiter *last = last_in_turn(queue);

		queue_remove(queue, last);
		if (last == waiter)
			return -EAGAIN;
		last->is_evicted = true;
		attention_raise(last->attention, ATTENTION_QUEUE);
	}
	return 0;
}

void queue_remove(struct queue *queue, struct queue_waiter *waiter)
{
	for (struct queue_waiter **at = &queue->first; *at; at = &(*at)->next)
		if (*at == waiter) {
			*at = waiter->next;
			waiter->next = NULL;
			queue->n--;
			return;
		}
}

void queue_wake(const struct queue *queue)
{
	for (struct queue_waiter *at = queue->first; at; at = at->next)
		attention_raise(at->attention, ATTENTION_QUEUE);
}
