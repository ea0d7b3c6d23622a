/*
 * Theory of operation: what other threads may ask of the gate: each function takes the lock, reads
 * or sets a few fields, and wakes the thread of http/gate_loop.c where it must act.
 */
#include "http/gate.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/fd.h"
#include "http/connection.h"
#include "http/gate_loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/* Descriptors and listeners of the thread. Returns 0 or -errno. */
static int open_all(struct gate *gate, const int *listeners, size_t n)
{
	gate->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	gate->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (gate->epoll_fd < 0 || gate->wake_fd < 0)
		return -errno;
	for (size_t i = 0; i < n; i++) {
		int r = fd_set_nonblocking(listeners[i]);

		if (r < 0)
			return r;
		gate->listeners[i] = listeners[i];
	}
	gate->n_listeners = n;
	gate_accepting_set(gate, true);
	return gate_watch(gate, gate->wake_fd, EPOLLIN, &gate->wake_fd);
}

static void close_all(struct gate *gate)
{
	gate->epoll_fd = fd_close(gate->epoll_fd);
	gate->wake_fd = fd_close(gate->wake_fd);
	free(gate->all);
	free(gate->served);
	free(gate->scratch);
	pthread_mutex_destroy(&gate->lock);
}

int gate_start(struct gate *gate, const int *listeners, size_t n)
{
	int r;

	if (n > HTTP_LISTENERS_MAX)
		return -EINVAL;
	gate->epoll_fd = gate->wake_fd = -1;
	gate->sweep_at_us = UINT64_MAX;
	gate->n_max = gate->limits->waiting_max + gate->limits->served_max + GATE_LINGER_MAX + 1;
	gate->all = xcalloc(gate->n_max, sizeof(struct connection *));
	gate->served = xcalloc(gate->limits->served_max, sizeof(struct connection *));
	gate->scratch = xmalloc(GATE_SCRATCH_SIZE);
	pthread_mutex_init(&gate->lock, NULL);
	r = open_all(gate, listeners, n);
	if (r == 0)
		r = -pthread_create(&gate->thread, NULL, gate_main, gate);
	if (r < 0)
		close_all(gate);
	return r;
}

void gate_quiesce(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->is_quiesced = true;
	pthread_mutex_unlock(&gate->lock);
	gate_wake(gate);
}

void gate_stop(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->is_quiesced = gate->is_stopping = true;
	pthread_mutex_unlock(&gate->lock);
	gate_wake(gate);
	pthread_join(gate->thread, NULL);
	close_all(gate);
}

void gate_keep(struct gate *gate, struct connection *connection)
{
	pthread_mutex_lock(&gate->lock);
	connection->is_started = true;
	gate_deadline_set(gate, connection, 0);
	pthread_mutex_unlock(&gate->lock);
}

int gate_lend(struct gate *gate, struct connection *connection)
{
	int fd = fd_dup_above(connection->fd, 0);

	pthread_mutex_lock(&gate->lock);
	connection->library_fd = fd < 0 ? -1 : fd;
	pthread_mutex_unlock(&gate->lock);
	return fd < 0 ? -1 : fd;
}

struct connection *gate_find(struct gate *gate, int library_fd)
{
	struct connection *found = NULL;

	pthread_mutex_lock(&gate->lock);
	for (unsigned i = 0; i < gate->limits->served_max && !found; i++) {
		if (gate->served[i] && gate->served[i]->library_fd == library_fd)
			found = gate->served[i];
	}
	if (found)
		found->is_started = true;
	pthread_mutex_unlock(&gate->lock);
	return found;
}

void gate_release(struct gate *gate, struct connection *connection)
{
	pthread_mutex_lock(&gate->lock);
	assert(!connection->is_over);
	connection->is_over = true;
	connection->library_fd = -1;
	gate->has_over = true;
	gate_wake(gate); /* under the lock: who sees that it is over may close everything */
	pthread_mutex_unlock(&gate->lock);
}

void gate_set_deadline(struct gate *gate, struct connection *connection, usec_t after_us)
{
	pthread_mutex_lock(&gate->lock);
	gate_deadline_set(gate, connection, after_us);
	pthread_mutex_unlock(&gate->lock);
}

bool gate_take_body(struct gate *gate, size_t n)
{
	bool is_left;

	pthread_mutex_lock(&gate->lock);
	is_left = n <= gate->limits->bodies_max_bytes - gate->bodies_bytes;
	if (is_left)
		gate->bodies_bytes += n;
	pthread_mutex_unlock(&gate->lock);
	return is_left;
}

void gate_return_body(struct gate *gate, size_t n)
{
	pthread_mutex_lock(&gate->lock);
	assert(n <= gate->bodies_bytes);
	gate->bodies_bytes -= n;
	pthread_mutex_unlock(&gate->lock);
}

void gate_count_request(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->stats.requests++;
	pthread_mutex_unlock(&gate->lock);
}
