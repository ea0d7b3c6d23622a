/*
 * Theory of operation: one lock, one condition, two threads. Body bytes are not copied into a queue
 * between them: the library's thread lends its buffer and waits until the handler has read it, so
 * memory stays constant and a slow handler slows the client down by TCP itself.
 */
#include "http/exchange/exchange.h"

#include "base/macro.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

void exchange_init(struct exchange *exchange)
{
	pthread_condattr_t attributes;

	memset(exchange, 0, sizeof(*exchange));
	pthread_mutex_init(&exchange->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&exchange->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

void exchange_fini(struct exchange *exchange)
{
	pthread_cond_destroy(&exchange->changed);
	pthread_mutex_destroy(&exchange->lock);
}

bool exchange_wait(struct exchange *exchange, usec_t at_us)
{
	struct timespec at = { (time_t)(at_us / USEC_PER_S), (long)(at_us % USEC_PER_S) * 1000 };

	if (at_us == UINT64_MAX)
		return pthread_cond_wait(&exchange->changed, &exchange->lock) == 0;
	return pthread_cond_timedwait(&exchange->changed, &exchange->lock, &at) != ETIMEDOUT;
}

bool exchange_begin(struct exchange *exchange)
{
	bool is_answered;

	pthread_mutex_lock(&exchange->lock);
	while (!exchange->is_answered && exchange->body == EXCHANGE_BODY_UNASKED)
		(void)exchange_wait(exchange, UINT64_MAX);
	is_answered = exchange->is_answered;
	pthread_mutex_unlock(&exchange->lock);
	return is_answered;
}

bool exchange_offer(struct exchange *exchange, const char *chunk, size_t n)
{
	bool is_direct;

	pthread_mutex_lock(&exchange->lock);
	exchange->chunk = chunk;
	exchange->chunk_left = n;
	pthread_cond_broadcast(&exchange->changed);
	while (exchange->chunk_left > 0 && !exchange->is_direct)
		(void)exchange_wait(exchange, UINT64_MAX);
	exchange->chunk = NULL;
	exchange->chunk_left = 0;
	is_direct = exchange->is_direct;
	pthread_mutex_unlock(&exchange->lock);
	return !is_direct;
}

bool exchange_end(struct exchange *exchange)
{
	bool is_direct;

	pthread_mutex_lock(&exchange->lock);
	exchange->body = EXCHANGE_BODY_ENDED;
	pthread_cond_broadcast(&exchange->changed);
	while (!exchange->is_answered && !exchange->is_direct)
		(void)exchange_wait(exchange, UINT64_MAX);
	is_direct = exchange->is_direct;
	pthread_mutex_unlock(&exchange->lock);
	return !is_direct;
}

void exchange_close(struct exchange *exchange)
{
	pthread_mutex_lock(&exchange->lock);
	exchange->is_gone = true;
	pthread_cond_broadcast(&exchange->changed);
	pthread_mutex_unlock(&exchange->lock);
}

/* Waits until there is something to read, an end, or at_us. The lock is held. */
static int wait_for_chunk(struct exchange *exchange, usec_t at_us)
{
	if (exchange->body == EXCHANGE_BODY_UNASKED) {
		exchange->body = EXCHANGE_BODY_FLOWING;
		pthread_cond_broadcast(&exchange->changed);
	}
	while (exchange->chunk_left == 0 && exchange->body != EXCHANGE_BODY_ENDED) {
		if (exchange->is_gone)
			return -ECONNRESET;
		if (!exchange_wait(exchange, at_us) && exchange->chunk_left == 0 &&
			exchange->body != EXCHANGE_BODY_ENDED)
			return -ETIMEDOUT;
	}
	return 0;
}

ssize_t exchange_read(
	struct exchange *exchange, void *data, size_t size, usec_t wait_us, usec_t *waited_us)
{
	usec_t start_us = clock_now_us();
	size_t n;
	int r;

	pthread_mutex_lock(&exchange->lock);
	r = wait_for_chunk(exchange, start_us + wait_us);
	*waited_us += clock_now_us() - start_us;
	n = r < 0 ? 0 : MIN(size, exchange->chunk_left);
	if (n > 0) {
		memcpy(data, exchange->chunk, n);
		exchange->chunk += n;
		exchange->chunk_left -= n;
		if (exchange->chunk_left == 0)
			pthread_cond_broadcast(&exchange->changed);
	}
	pthread_mutex_unlock(&exchange->lock);
	return r < 0 ? r : (ssize_t)n;
}

bool exchange_answer(struct exchange *exchange, bool is_whole)
{
	bool is_taken;

	pthread_mutex_lock(&exchange->lock);
	while (is_whole && exchange->body == EXCHANGE_BODY_FLOWING && !exchange->is_gone)
		(void)exchange_wait(exchange, UINT64_MAX);
	is_taken = exchange->body != EXCHANGE_BODY_FLOWING || exchange->is_gone;
	exchange->is_answered = is_taken;
	pthread_cond_broadcast(&exchange->changed);
	pthread_mutex_unlock(&exchange->lock);
	return is_taken;
}

void exchange_answer_direct(struct exchange *exchange)
{
	pthread_mutex_lock(&exchange->lock);
	exchange->is_direct = true;
	pthread_cond_broadcast(&exchange->changed);
	pthread_mutex_unlock(&exchange->lock);
}
