/*
 * Theory of operation: the first connection is the life line of jaild and is used for nothing but
 * making others. Making one is a question and an answer, so whoever does it takes the first
 * connection out (is_making) while the mutex is free, and others wait for it on the condition.
 *
 * A jaild that is gone shows as a hang-up on the first connection, which poll tells without
 * waiting; so nobody has to watch it all the time: whoever asks for the generation finds out. Its
 * successor is another generation, and a connection remembers the one it belongs to, so nothing of
 * the old one is ever used with the new.
 *
 * The mutex is a leaf: nothing else is locked under it.
 */
#include "pool/pool.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

struct connection {
	struct jaild jaild;
	struct connection *next; /* among the idle ones */
	uint64_t generation;
};

struct pool {
	pthread_mutex_t mutex;
	pthread_cond_t made; /* the first connection is free again */
	struct jaild first;
	bool is_making;
	uint64_t generation; /* of the last jaild; it may be gone: first.fd is -1 then */
	struct wire_status_is status;
	struct connection *idle;
	size_t n_idle;
	size_t n_in_use;
};

struct pool *pool_new(void)
{
	struct pool *pool = xcalloc(1, sizeof(*pool));

	(void)pthread_mutex_init(&pool->mutex, NULL);
	(void)pthread_cond_init(&pool->made, NULL);
	pool->first = (struct jaild)JAILD_INIT;
	return pool;
}

static void connection_free(struct connection *connection)
{
	jaild_stop(&connection->jaild);
	free(connection);
}

/* Takes all idle connections out, for connections_free without the lock. */
static struct connection *idle_take(struct pool *pool)
{
	pool->n_idle = 0;
	return TAKE_PTR(pool->idle);
}

static void connections_free(struct connection *list)
{
	while (list) {
		struct connection *next = list->next;

		connection_free(list);
		list = next;
	}
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	assert(pool->n_in_use == 0);
	connections_free(idle_take(pool));
	jaild_stop(&pool->first);
	(void)pthread_cond_destroy(&pool->made);
	(void)pthread_mutex_destroy(&pool->mutex);
	free(pool);
}

static bool is_hung_up(int fd)
{
	struct pollfd set = { .fd = fd, .events = 0 };

	return poll(&set, 1, 0) > 0 && (set.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* True if a jaild is there; notices one that went. Under the lock. */
static bool is_there(struct pool *pool)
{
	if (pool->is_making) /* the maker finds out */
		return true;
	if (pool->first.fd < 0)
		return false;
	if (!is_hung_up(pool->first.fd))
		return true;
	log_error("msg=\"jaild is gone\" generation=%llu", (unsigned long long)pool->generation);
	pool->first.fd = fd_close(pool->first.fd);
	return false;
}

int pool_attach(struct pool *pool, int fd, struct fault *ret_fault)
{
	struct jaild jaild, old;
	struct wire_status_is status;
	struct connection *idle;
	int r;

	jaild_attach(&jaild, fd);
	r = jaild_wait_ready(&jaild);
	if (r == 0)
		r = jaild_status(&jaild, &status);
	if (r < 0) {
		*ret_fault = jaild.fault;
		jaild_stop(&jaild);
		return r;
	}
	(void)pthread_mutex_lock(&pool->mutex);
	while (pool->is_making)
		(void)pthread_cond_wait(&pool->made, &pool->mutex);
	old = pool->first;
	pool->first = jaild;
	pool->generation++;
	pool->status = status;
	idle = idle_take(pool);
	(void)pthread_mutex_unlock(&pool->mutex);
	jaild_stop(&old);
	connections_free(idle);
	return 0;
}

/* An idle connection that still works, or NULL; those that do not go to *broken. Under the lock. */
static struct connection *idle_get(struct pool *pool, struct connection **broken)
{
	while (pool->idle) {
		struct connection *connection = pool->idle;

		pool->idle = connection->next;
		pool->n_idle--;
		if (!is_hung_up(connection->jaild.fd))
			return connection;
		connection->next = *broken;
		*broken = connection;
	}
	return NULL;
}

/* Makes a connection over the first one. Entered and left with the lock, which is free meanwhile.
 */
static struct connection *make(struct pool *pool, struct fault *ret_fault)
{
	struct connection *connection = NULL;
	struct jaild another;
	int r;

	while (pool->is_making)
		(void)pthread_cond_wait(&pool->made, &pool->mutex);
	if (!is_there(pool)) {
		fault_set(ret_fault, FAULT_SANDBOX_UNAVAILABLE,
			"the jail daemon is not running; it is being started again");
		return NULL;
	}
	pool->is_making = true;
	(void)pthread_mutex_unlock(&pool->mutex);
	r = jaild_another(&pool->first, &another);
	(void)pthread_mutex_lock(&pool->mutex);
	pool->is_making = false;
	(void)pthread_cond_broadcast(&pool->made);
	if (r < 0) {
		*ret_fault = pool->first.fault;
		log_error("msg=\"no connection to jaild\" generation=%llu cause=%s",
			(unsigned long long)pool->generation, LOG_VALUE(ret_fault->text));
		return NULL;
	}
	connection = xcalloc(1, sizeof(*connection));
	connection->jaild = another;
	connection->generation = pool->generation;
	return connection;
}

uint64_t pool_generation_of(struct jaild *jaild)
{
	return container_of(jaild, struct connection, jaild)->generation;
}

struct jaild *pool_get(struct pool *pool, uint64_t generation, struct fault *ret_fault)
{
	struct connection *connection = NULL, *broken = NULL;

	(void)pthread_mutex_lock(&pool->mutex);
	if (pool->n_in_use >= POOL_MAX) {
		fault_set(ret_fault, FAULT_SANDBOX_BUSY, "too many calls at once");
		fault_advise(ret_fault, "Try again when some of them have been answered.");
	} else {
		pool->n_in_use++; /* before make, which lets others in */
		connection = idle_get(pool, &broken);
		if (!connection)
			connection = make(pool, ret_fault);
		if (!connection)
			pool->n_in_use--;
	}
	(void)pthread_mutex_unlock(&pool->mutex);
	connections_free(broken);
	if (connection && generation != 0 && connection->generation != generation) {
		pool_put(pool, &connection->jaild);
		fault_set(ret_fault, FAULT_SANDBOX_UNAVAILABLE,
			"the jail daemon was started again: the session's files are gone");
		return NULL;
	}
	return connection ? &connection->jaild : NULL;
}

void pool_put(struct pool *pool, struct jaild *jaild)
{
	struct connection *connection = container_of(jaild, struct connection, jaild);
	bool is_good = jaild->fd >= 0 && !jaild->watches;

	(void)pthread_mutex_lock(&pool->mutex);
	pool->n_in_use--;
	if (is_good && connection->generation == pool->generation && pool->n_idle < POOL_IDLE_MAX) {
		connection->next = pool->idle;
		pool->idle = TAKE_PTR(connection);
		pool->n_idle++;
	}
	(void)pthread_mutex_unlock(&pool->mutex);
	if (connection)
		connection_free(connection);
}

uint64_t pool_generation(struct pool *pool)
{
	uint64_t generation;

	(void)pthread_mutex_lock(&pool->mutex);
	generation = is_there(pool) ? pool->generation : 0;
	(void)pthread_mutex_unlock(&pool->mutex);
	return generation;
}

bool pool_status(struct pool *pool, struct wire_status_is *ret_status)
{
	bool is_known;

	(void)pthread_mutex_lock(&pool->mutex);
	is_known = is_there(pool);
	if (is_known)
		*ret_status = pool->status;
	(void)pthread_mutex_unlock(&pool->mutex);
	return is_known;
}

size_t pool_in_use(struct pool *pool)
{
	size_t n;

	(void)pthread_mutex_lock(&pool->mutex);
	n = pool->n_in_use;
	(void)pthread_mutex_unlock(&pool->mutex);
	return n;
}
