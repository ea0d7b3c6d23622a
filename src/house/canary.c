/*
 * Theory of operation: one thread that runs, notes the result, and sleeps. It takes a connection of
 * the pool like every other, but no place in the house: a full house must not look broken. What it
 * checks is what a client would get: a session, python, the output, the closing.
 *
 * The mutex is never held while it runs; under it only the pool's is taken.
 */
#include "house/canary.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/str.h"
#include "base/thread.h"
#include "pool/pool.h"
#include "sandbox/profile.h"
#include "sandbox/run.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CODE	 "print(6*7)"
#define EXPECTED "42\n"
/* The zygote's imports take a fraction of a second, on a busy machine a few. */
#define ZYGOTE_WAIT_MS	15000
#define ZYGOTE_PAUSE_MS 20

struct canary {
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* a result, a wake, the end */
	pthread_t thread;
	struct pool *pool;
	struct canary_result last; /* but for ms_ago */
	usec_t ended_at_us;
	uint64_t generation; /* of the jaild that the last one ran in */
	bool is_woken;
	bool is_ending;
};

static int wrong(struct fault *ret_fault, const char *what)
{
	fault_set(ret_fault, FAULT_SANDBOX_UNAVAILABLE, "the canary run %s", what);
	return -EPROTO;
}

static int judge(const struct run *run, struct fault *ret_fault)
{
	AUTO_BUF struct buf text = BUF_INIT(OUTPUT_TEXT_MAX(OUTPUT_HALF_BYTES));
	uint64_t dropped;

	if (run->ended.end != WIRE_END_EXIT)
		return wrong(ret_fault, "did not end by itself");
	if (run->ended.code != 0)
		return wrong(ret_fault, "failed: is python there?");
	if (output_text(&run->output[RUN_STDOUT], &text, &dropped) < 0 ||
		strcmp(buf_get_cstr(&text), EXPECTED) != 0)
		return wrong(ret_fault, "printed something else than 42");
	return 0;
}

static int run_in(struct jaild *jaild, uint64_t session, const struct wire_limits *limits,
	struct fault *ret_fault)
{
	static const struct package package = {
		.language = PACKAGE_PYTHON, .code = CODE, .code_size = sizeof(CODE) - 1
	};
	const struct run_request request = {
		.session = session, .limit_ms = limits->wall_ms, .package = &package
	};
	struct run run;
	int r;

	run_init(&run);
	r = run_start(&run, jaild, &request);
	if (r == 0)
		r = run_wait(&run, -1);
	if (r < 0)
		*ret_fault = run.fault;
	else
		r = judge(&run, ret_fault);
	run_fini(&run);
	return r;
}

/* The first runs are to find the small zygote there, not to race it (decision 29). One that has
 * failed is not waited for: runs work without. */
static int zygote_await(struct jaild *jaild)
{
	const struct timespec pause = { .tv_nsec = ZYGOTE_PAUSE_MS * 1000 * 1000 };
	struct wire_status_is status;
	int r;

	for (int i = 0; i < ZYGOTE_WAIT_MS / ZYGOTE_PAUSE_MS; i++) {
		r = jaild_status(jaild, &status);
		if (r < 0 || status.zygotes[0].state != WIRE_ZYGOTE_LOADING)
			return r;
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int try_once(struct pool *pool, uint64_t *ret_generation, struct fault *ret_fault)
{
	struct jaild *jaild = pool_get(pool, 0, ret_fault);
	struct wire_limits limits;
	char name[ID_LEN + 1];
	uint64_t session;
	int r;

	if (!jaild)
		return -ENOTCONN;
	*ret_generation = pool_generation_of(jaild);
	r = zygote_await(jaild);
	if (r < 0)
		*ret_fault = jaild->fault;
	if (r == 0)
		r = profile_get(PROFILE_DEFAULT, &limits, ret_fault);
	if (r == 0)
		r = id_make(name);
	if (r == 0) {
		r = jaild_session_open(jaild, name, &limits, &session);
		if (r < 0)
			*ret_fault = jaild->fault;
	}
	if (r == 0) {
		r = run_in(jaild, session, &limits, ret_fault);
		if (jaild_session_close(jaild, session) < 0 && r == 0) {
			*ret_fault = jaild->fault;
			r = -EPROTO;
		}
	}
	pool_put(pool, jaild);
	return r;
}

/* Notes the result and logs when it turns; that no jaild is there yet or any more is the pool's to
 * log. Under the lock. */
static void note(struct canary *canary, int r, const struct fault *fault, usec_t took_us)
{
	struct canary_result *last = &canary->last;

	if (r < 0 && canary->generation != 0 && (last->is_ok || !last->is_known))
		log_error("msg=\"the canary run failed\" stage=%s cause=%s",
			LOG_VALUE(fault->stage), LOG_VALUE(fault->text));
	else if (r == 0 && !last->is_ok)
		log_info("msg=\"the canary run works\" ms=%llu",
			(unsigned long long)(took_us / USEC_PER_MS));
	last->is_known = true;
	last->is_ok = r == 0;
	last->took_ms = took_us / USEC_PER_MS;
	last->fault = r == 0 ? (struct fault){ .code = FAULT_NONE } : *fault;
	last->ok_total += r == 0;
	last->failed_total += r < 0;
	canary->ended_at_us = clock_now_us();
	(void)pthread_cond_broadcast(&canary->changed);
}

/* Sleeps until the next one, a wake, or the end. Under the lock. */
static void rest(struct canary *canary)
{
	usec_t until_us = clock_now_us() +
			  (canary->last.is_ok ? CANARY_EVERY_MS : CANARY_RETRY_MS) * USEC_PER_MS;
	struct timespec until = { .tv_sec = (time_t)(until_us / USEC_PER_S),
		.tv_nsec = (long)(until_us % USEC_PER_S * 1000) };

	while (!canary->is_woken && !canary->is_ending && clock_now_us() < until_us)
		(void)pthread_cond_timedwait(&canary->changed, &canary->mutex, &until);
	canary->is_woken = false;
}

static void *thread_main(void *argument)
{
	struct canary *canary = argument;

	(void)pthread_mutex_lock(&canary->mutex);
	while (!canary->is_ending) {
		struct fault fault = { .code = FAULT_NONE };
		usec_t before_us = clock_now_us();
		uint64_t generation = 0;
		int r;

		(void)pthread_mutex_unlock(&canary->mutex);
		r = try_once(canary->pool, &generation, &fault);
		(void)pthread_mutex_lock(&canary->mutex);
		canary->generation = generation;
		note(canary, r, &fault, clock_now_us() - before_us);
		rest(canary);
	}
	(void)pthread_mutex_unlock(&canary->mutex);
	return NULL;
}

struct canary *canary_new(struct pool *pool)
{
	struct canary *canary = xcalloc(1, sizeof(*canary));
	pthread_condattr_t clock;
	int r = pthread_condattr_init(&clock);

	canary->pool = pool;
	(void)pthread_mutex_init(&canary->mutex, NULL);
	if (r == 0)
		r = pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	if (r == 0)
		r = pthread_cond_init(&canary->changed, &clock);
	if (r == 0)
		r = thread_create(&canary->thread, thread_main, canary);
	assert(r == 0); /* at the start of a program: like memory that is out */
	(void)pthread_condattr_destroy(&clock);
	return canary;
}

void canary_free(struct canary *canary)
{
	if (!canary)
		return;
	(void)pthread_mutex_lock(&canary->mutex);
	canary->is_ending = true;
	(void)pthread_cond_broadcast(&canary->changed);
	(void)pthread_mutex_unlock(&canary->mutex);
	(void)pthread_join(canary->thread, NULL);
	(void)pthread_cond_destroy(&canary->changed);
	(void)pthread_mutex_destroy(&canary->mutex);
	free(canary);
}

void canary_wake(struct canary *canary)
{
	(void)pthread_mutex_lock(&canary->mutex);
	canary->is_woken = true;
	(void)pthread_cond_broadcast(&canary->changed);
	(void)pthread_mutex_unlock(&canary->mutex);
}

void canary_get(struct canary *canary, struct canary_result *ret_result)
{
	(void)pthread_mutex_lock(&canary->mutex);
	*ret_result = canary->last;
	if (canary->last.is_known)
		ret_result->ms_ago = (clock_now_us() - canary->ended_at_us) / USEC_PER_MS;
	(void)pthread_mutex_unlock(&canary->mutex);
}

/* Under the lock. */
static bool is_ready(const struct canary *canary)
{
	return canary->last.is_ok && canary->generation != 0 &&
	       canary->generation == pool_generation(canary->pool) &&
	       clock_now_us() - canary->ended_at_us <= CANARY_FRESH_MS * USEC_PER_MS;
}

bool canary_is_ready(struct canary *canary)
{
	bool r;

	(void)pthread_mutex_lock(&canary->mutex);
	r = is_ready(canary);
	(void)pthread_mutex_unlock(&canary->mutex);
	return r;
}

bool canary_wait(struct canary *canary, uint64_t timeout_ms)
{
	usec_t until_us = clock_now_us() + timeout_ms * USEC_PER_MS;
	struct timespec until = { .tv_sec = (time_t)(until_us / USEC_PER_S),
		.tv_nsec = (long)(until_us % USEC_PER_S * 1000) };
	bool r;

	(void)pthread_mutex_lock(&canary->mutex);
	while (!(r = is_ready(canary)) && clock_now_us() < until_us)
		(void)pthread_cond_timedwait(&canary->changed, &canary->mutex, &until);
	(void)pthread_mutex_unlock(&canary->mutex);
	return r;
}
