/*
 * Theory of operation: a list of connections and a condition, as many places as threads. A worker
 * tells the whole story of a request in its own thread: http/handling.c finds the route and calls
 * the handler, as it does in the library's thread; then the answer is written to the socket
 * (http/answer.h). The gate cuts a client that does not take it in time, which ends the writing.
 */
#include "http/workers.h"

#include "base/assert.h"
#include "base/thread.h"
#include "http/answer.h"
#include "http/connection.h"
#include "http/gate.h"
#include "http/handling.h"
#include "http/sse.h"

/* By its method the request has a short answer (http/server.h), and nothing of it is to come. */
static bool is_ours(const struct connection *connection)
{
	const struct head *head = connection->head;
	bool is_short = str_eq(head->method, STR("POST")) || str_eq(head->method, STR("PUT")) ||
			str_eq(head->method, STR("DELETE"));

	return is_short && connection->body.p && !sse_is_accepted(head);
}

static void serve(struct workers *workers, struct connection *connection)
{
	struct http_request *request = handling_new(workers->config, workers->gate, connection);
	const struct answer *answer = &request->answer;

	assert(answer->kind == ANSWER_BYTES);
	gate_set_deadline(
		workers->gate, connection, answer_time_us(answer, &workers->config->limits));
	answer_send(answer, connection->fd, -1);
	connection->is_shut = true;
	handling_free(request);
	gate_release(workers->gate, connection);
}

static void *worker_main(void *arg)
{
	struct workers *workers = arg;

	pthread_mutex_lock(&workers->lock);
	for (;;) {
		struct connection *connection;

		while (workers->n_given == 0 && !workers->is_ending)
			pthread_cond_wait(&workers->work, &workers->lock);
		if (workers->n_given == 0)
			break;
		connection = workers->given[--workers->n_given];
		pthread_mutex_unlock(&workers->lock);
		serve(workers, connection);
		pthread_mutex_lock(&workers->lock);
		workers->n_idle++;
	}
	pthread_mutex_unlock(&workers->lock);
	return NULL;
}

/* One more, idle; under the lock. */
static void begin(struct workers *workers)
{
	if (thread_create(&workers->threads[workers->n_threads], worker_main, workers) == 0) {
		workers->n_threads++;
		workers->n_idle++;
	}
}

void workers_init(struct workers *workers, const struct http_config *config, struct gate *gate)
{
	*workers = (struct workers){ .config = config, .gate = gate };
	pthread_mutex_init(&workers->lock, NULL);
	pthread_cond_init(&workers->work, NULL);
}

void workers_fini(struct workers *workers)
{
	pthread_mutex_lock(&workers->lock);
	workers->is_ending = true;
	pthread_cond_broadcast(&workers->work);
	pthread_mutex_unlock(&workers->lock);
	for (size_t i = 0; i < workers->n_threads; i++)
		pthread_join(workers->threads[i], NULL);
	pthread_cond_destroy(&workers->work);
	pthread_mutex_destroy(&workers->lock);
}

bool workers_take(struct workers *workers, struct connection *connection)
{
	bool is_taken;

	if (!is_ours(connection))
		return false;
	pthread_mutex_lock(&workers->lock);
	if (workers->n_idle == 0 && workers->n_threads < WORKERS_MAX)
		begin(workers);
	is_taken = workers->n_idle > 0;
	if (is_taken) {
		workers->n_idle--;
		gate_keep(workers->gate, connection);
		workers->given[workers->n_given++] = connection;
	}
	pthread_mutex_unlock(&workers->lock);
	if (is_taken) /* who wakes finds the lock free */
		pthread_cond_signal(&workers->work);
	return is_taken;
}
