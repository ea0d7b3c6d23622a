/*
 * Theory of operation: nothing is kept sorted. A waiter's turn follows from (share of its tenant +
 * waiters of the same tenant before it, when its tenant was served last, arrival); with 32 waiters
 * that is counted anew each time it is asked for, and no order can become stale when a session
 * closes. The middle part is for a house with few places: between two places of a tenant its share
 * is nothing again, and arrival alone would let thirty early askers starve a late one.
 */
#include "turns/queue.h"

#include "base/str.h"
#include "turns/attention.h"

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

static uint64_t last_served(const struct queue *queue, const char *tenant)
{
	for (size_t i = 0; i < QUEUE_SERVED_MAX; i++)
		if (queue->served[i].number > 0 && strcmp(queue->served[i].tenant, tenant) == 0)
			return queue->served[i].number;
	return 0;
}

void queue_serve(struct queue *queue, const char *tenant)
{
	struct queue_served *oldest = &queue->served[0];

	for (size_t i = 0; i < QUEUE_SERVED_MAX; i++) {
		struct queue_served *at = &queue->served[i];

		if (strcmp(at->tenant, tenant) == 0) {
			oldest = at;
			break;
		}
		if (at->number < oldest->number)
			oldest = at;
	}
	if (str_copy(oldest->tenant, sizeof(oldest->tenant), tenant) == 0)
		oldest->number = ++queue->next_number;
}

/* True if a's turn is before b's. */
static bool is_before(
	const struct queue *queue, const struct queue_waiter *a, const struct queue_waiter *b)
{
	unsigned burden_a = burden(queue, a), burden_b = burden(queue, b);
	uint64_t served_a = last_served(queue, a->tenant), served_b = last_served(queue, b->tenant);

	if (burden_a != burden_b)
		return burden_a < burden_b;
	return served_a != served_b ? served_a < served_b : a->number < b->number;
}

unsigned queue_position(const struct queue *queue, const struct queue_waiter *waiter)
{
	unsigned position = 1;

	for (const struct queue_waiter *at = queue->first; at; at = at->next)
		position += at != waiter && is_before(queue, at, waiter);
	return position;
}

/* The one whose turn is last; the queue is not empty. */
static struct queue_waiter *last_in_turn(const struct queue *queue)
{
	struct queue_waiter *last = queue->first;

	for (struct queue_waiter *at = queue->first->next; at; at = at->next)
		if (is_before(queue, last, at))
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
	waiter->number = ++queue->next_number;
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
