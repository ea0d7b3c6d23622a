#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct connection;
struct gate;
struct http_config;

/*
 * A few threads that wait for requests which need no library: the whole body came with the head,
 * and the answer is one piece of bytes. Such a request costs one wake-up, where the library's
 * thread for it is asked for, started, ended and joined. When all are at work, or for everything
 * else, there is the library.
 */

/* Enough for the runs of a usual house; each holds a stack and a heap of its own. */
#define WORKERS_MAX 8

struct workers {
	const struct http_config *config;
	struct gate *gate;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t work;
	pthread_t threads[WORKERS_MAX];
	size_t n_threads;
	size_t n_idle; /* that wait, and nobody has given them anything yet */
	struct connection *given[WORKERS_MAX];
	size_t n_given;
	bool is_ending;
};

/* Threads begin when there is something to do. The caller sets nothing; end it with workers_fini.
 */
void workers_init(struct workers *workers, const struct http_config *config, struct gate *gate);

/* No connection is with them any more: ends the threads. */
void workers_fini(struct workers *workers);

/* Has a worker serve the connection, which is the gate's and served, and release it. False: none
 * would. The gate's thread only. */
bool workers_take(struct workers *workers, struct connection *connection);
