/*
 * Theory of operation: an object with one mutex, one thread, and what house/state.h describes. The
 * thread closes what is due and sleeps until the next moment when something may be; whoever makes
 * an earlier one (a visit that ends) wakes it. Calls of clients look after due sessions themselves,
 * so that a session is never used a moment too long because the thread is busy with another.
 *
 * Times are those of CLOCK_MONOTONIC, for the conditions too: a set clock closes nothing.
 */
#include "house/house.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/thread.h"
#include "house/kept.h"
#include "house/state.h"
#include "pool/pool.h"
#include "turns/runs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define RETRY_MAX_S	60
#define RETRY_UNKNOWN_S 5 /* every place is at work: as long as a waiter would wait */

/* How many places a tenant holds. */
static unsigned share(const struct queue *queue, const char *tenant)
{
	const struct house *house =
		(const struct house *)(const void *)((const char *)queue -
						     offsetof(struct house, queue));
	unsigned n = 0;

	for (const struct house_session *at = house->sessions; at; at = at->next)
		n += strcmp(at->tenant, tenant) == 0;
	return n;
}

/* Closes one session that is due. Returns true if there was one; else *ret_next_us is when there
 * may be. */
static bool close_due(struct house *house, usec_t *ret_next_us)
{
	struct fault fault;
	usec_t due_us;

	*ret_next_us = UINT64_MAX;
	for (struct house_session *at = house->sessions; at; at = at->next) {
		const char *reason = house_due(house, at, &due_us);

		if (reason) {
			bool is_age = strcmp(reason, "age") == 0;

			counters_add(&house->counters,
				is_age ? COUNTER_CLOSED_AGE : COUNTER_CLOSED_IDLE, 1);
			if (house_close_session(house, at, reason, &fault) < 0)
				log_error("msg=\"a session did not close\" cause=%s",
					LOG_VALUE(fault.text));
			return true;
		}
		*ret_next_us = MIN(*ret_next_us, due_us);
	}
	return false;
}

static void *thread_main(void *argument)
{
	struct house *house = argument;
	usec_t next_us;

	(void)pthread_mutex_lock(&house->mutex);
	while (!house->is_ending) {
		struct timespec until;

		if (close_due(house, &next_us) || house_kept_expire(house, &next_us) ||
			house_kept_note(house))
			continue;
		house->timer_at_us = next_us;
		if (next_us == UINT64_MAX) {
			(void)pthread_cond_wait(&house->timer, &house->mutex);
			continue;
		}
		until = (struct timespec){ .tv_sec = (time_t)(next_us / USEC_PER_S),
			.tv_nsec = (long)(next_us % USEC_PER_S * 1000) };
		(void)pthread_cond_timedwait(&house->timer, &house->mutex, &until);
	}
	(void)pthread_mutex_unlock(&house->mutex);
	return NULL;
}

static void conditions_init(struct house *house)
{
	pthread_condattr_t attributes;
	int r = pthread_condattr_init(&attributes);

	if (r == 0)
		r = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	if (r == 0)
		r = pthread_cond_init(&house->changed, &attributes);
	if (r == 0)
		r = pthread_cond_init(&house->timer, &attributes);
	assert(r == 0);
	(void)pthread_condattr_destroy(&attributes);
}

struct house *house_new(const struct house_config *config)
{
	struct house *house = xcalloc(1, sizeof(*house));
	int r;

	house->config = *config;
	house->queue = (struct queue){ .max = config->queue_max, .share = share };
	house->pool = pool_new();
	house->runs = runs_new();
	if (getrandom(&house->seed, sizeof(house->seed), GRND_NONBLOCK) < 0)
		house->seed = clock_now_us();
	extent_key_make(&house->hash_key);
	r = known_open(-1, &house->known);
	assert(r == 0); /* like memory that is out */
	(void)pthread_mutex_init(&house->mutex, NULL);
	conditions_init(house);
	r = thread_create(&house->thread, thread_main, house);
	assert(r == 0); /* at the start of a program: like memory that is out */
	return house;
}

void house_free(struct house *house)
{
	if (!house)
		return;
	(void)pthread_mutex_lock(&house->mutex);
	house->is_ending = true;
	(void)pthread_cond_signal(&house->timer);
	(void)pthread_mutex_unlock(&house->mutex);
	(void)pthread_join(house->thread, NULL);
	assert(house->calls == 0);
	while (house->sessions) /* jaild ends them with its first connection */
		house_drop(house, house->sessions, NULL);
	live_memory_fini(house);
	kept_table_fini(&house->kept);
	store_free(house->store);
	pool_free(house->pool);
	runs_free(house->runs);
	(void)pthread_cond_destroy(&house->changed);
	(void)pthread_cond_destroy(&house->timer);
	(void)pthread_mutex_destroy(&house->mutex);
	free(house);
}

int house_inherit(struct house *house, int fd)
{
	struct known *known;
	int r = known_open(fd, &known);

	if (r < 0)
		return r;
	(void)pthread_mutex_lock(&house->mutex);
	house->known = known;
	if (known->seed == 0)
		known->seed = house->seed;
	house->seed = known->seed;
	for (size_t i = 0; i < KNOWN_MAX; i++) {
		house->closed[i] = known->slots[i];
		house->closed_why[i] = CLOSED_RESTART;
	}
	(void)pthread_mutex_unlock(&house->mutex);
	return 0;
}

int house_keep(struct house *house, struct store *store, const char *trouble)
{
	struct kept_table table = { .n = 0 };
	int r = store ? kept_table_load(&table, store) : 0;

	if (r < 0) {
		kept_table_fini(&table);
		store_free(store);
		return r;
	}
	(void)pthread_mutex_lock(&house->mutex);
	house->store = store;
	if (store)
		house->hash_key = *store_hash_key(store);
	house->store_trouble = trouble;
	house->kept = table;
	house->is_generations_due = true;
	(void)pthread_cond_signal(&house->timer);
	(void)pthread_mutex_unlock(&house->mutex);
	return 0;
}

int house_attach(struct house *house, int fd, struct fault *ret_fault)
{
	return pool_attach(house->pool, fd, ret_fault);
}

struct pool *house_pool_get(struct house *house)
{
	return house->pool;
}

struct counters *house_counters_get(struct house *house)
{
	return &house->counters;
}

static void wait_calls(struct house *house, uint64_t wait_ms)
{
	usec_t deadline_us = clock_now_us() + wait_ms * USEC_PER_MS;

	while (house->calls > 0 && clock_now_us() < deadline_us)
		house_wait(house, deadline_us);
}

/* The last try for what could not be stored, and the list for the next start. */
static void flush_all(struct house *house)
{
	struct house_session *next;
	struct fault fault;

	for (struct house_session *at = house->sessions; at; at = next) {
		house_reference(at);
		if (at->visits == 0 && at->state == SESSION_OPEN)
			(void)house_kept_flush(house, at, &fault);
		next = at->state == SESSION_GONE ? NULL : at->next;
		house_release(at);
	}
	(void)house_kept_note(house);
}

size_t house_drain(struct house *house, uint64_t grace_ms, uint64_t wait_ms)
{
	size_t left;

	(void)pthread_mutex_lock(&house->mutex);
	house->is_draining = true;
	for (struct queue_waiter *at = house->queue.first; at; at = at->next)
		attention_raise(at->attention, ATTENTION_DRAIN);
	(void)pthread_cond_broadcast(&house->changed);
	wait_calls(house, grace_ms);
	for (struct house_session *at = house->sessions; at; at = at->next) {
		if (at->run)
			attention_raise(at->run, ATTENTION_DRAIN);
		house_cut(at, TRANSFER_UPLOAD);
	}
	wait_calls(house, wait_ms);
	left = house->calls;
	flush_all(house);
	(void)pthread_mutex_unlock(&house->mutex);
	return left;
}

int house_cancel(
	struct house *house, const char *tenant, const char *run_id, struct fault *ret_fault)
{
	int r = runs_cancel(house->runs, tenant, run_id);

	if (r == -EALREADY)
		fault_set(ret_fault, FAULT_RUN_FINISHED, "the run has ended");
	if (r < 0 && r != -EALREADY) {
		fault_set(ret_fault, FAULT_NOT_FOUND, "there is no such run");
		fault_advise(ret_fault,
			"Check the run's id: GET /v1/sessions (cloche session ls) names the runs "
			"under way; those that ended long ago are forgotten.");
	}
	return r;
}

/* Waits until nobody is opening, closing or removing what is under the key. */
static struct house_session *find_settled(
	struct house *house, const char *tenant, const char *key, struct kept **ret_row)
{
	struct house_session *session;

	for (;;) {
		session = house_find(house, tenant, key);
		*ret_row = kept_find(&house->kept, tenant, key);
		if ((!session || session->state == SESSION_OPEN) &&
			(!*ret_row || !(*ret_row)->is_removing))
			return session;
		(void)pthread_cond_wait(&house->changed, &house->mutex);
	}
}

int house_stop(struct house *house, const char *tenant, const char *key, struct fault *ret_fault)
{
	struct house_session *session;
	struct kept *row;
	int r = 0;

	(void)pthread_mutex_lock(&house->mutex);
	session = find_settled(house, tenant, key, &row);
	if (!session && !row) {
		r = house_not_there(ret_fault);
	} else if (session && !session->kept) {
		fault_set_field(ret_fault, "policy",
			"the session is ephemeral: it can be closed, not stopped");
		fault_advise(ret_fault,
			"Close it with DELETE (cloche session rm), or let it be: it closes by "
			"itself. Only a session of the policy kept has files to come back to.");
		r = -EINVAL;
	} else if (session && session->visits > 0) {
		fault_set(ret_fault, FAULT_SESSION_BUSY, "a call is under way in the session");
		r = -EBUSY;
	} else if (session) {
		counters_add(&house->counters, COUNTER_CLOSED_ASKED, 1);
		r = house_close_session(house, session, "asked", ret_fault);
	}
	(void)pthread_mutex_unlock(&house->mutex);
	return r;
}

int house_remove_session(
	struct house *house, struct house_session *session, struct fault *ret_fault)
{
	struct kept *row = session->kept;
	int r;

	if (row)
		row->is_removing = true;
	counters_add(&house->counters, COUNTER_CLOSED_ASKED, 1);
	r = house_close_session(house, session, NULL, ret_fault);
	return row ? house_kept_remove(house, row, ret_fault) : r;
}

int house_close(struct house *house, const char *tenant, const char *key, struct fault *ret_fault)
{
	struct house_session *session;
	struct kept *row;
	int r = 0;

	(void)pthread_mutex_lock(&house->mutex);
	session = find_settled(house, tenant, key, &row);
	if (session) {
		r = house_remove_session(house, session, ret_fault);
	} else if (row) {
		row->is_removing = true;
		r = house_kept_remove(house, row, ret_fault);
	} else {
		(void)house_recall(house, tenant, key);
		r = house_kept_remove_broken(house, tenant, key, ret_fault);
		if (r == -ENOENT)
			r = house_not_there(ret_fault);
	}
	(void)pthread_mutex_unlock(&house->mutex);
	return r;
}

/* Under the lock: what the store has. */
static void describe_row(
	const struct house *house, const struct kept *row, struct house_session_info *info)
{
	const struct manifest_head *head = &row->head;
	int64_t idle_us = (int64_t)clock_now_us() - row->used_at_us;
	uint64_t unused_ms = house->config.kept_unused_ms;

	info->is_kept = true;
	info->created_ns = head->created_ns;
	info->files = head->files;
	info->files_bytes = head->files_bytes;
	info->stored_bytes = head->stored_bytes;
	if (row->is_active) {
		info->expires_in_ms = unused_ms - MIN(unused_ms, info->idle_ms);
		return;
	}
	info->is_stopped = true;
	info->runs = head->runs;
	info->is_live = head->is_live;
	info->idle_ms = (uint64_t)MAX(idle_us, (int64_t)0) / USEC_PER_MS;
	info->expires_in_ms = unused_ms - MIN(unused_ms, info->idle_ms);
	(void)str_copy(info->tenant, sizeof(info->tenant), head->tenant);
	(void)str_copy(info->key, sizeof(info->key), head->key);
	(void)str_copy(info->profile, sizeof(info->profile), head->profile);
}

/* Under the lock. */
static void describe(const struct house *house, const struct house_session *session,
	struct house_session_info *ret_info)
{
	usec_t now_us = clock_now_us(), due_us;
	struct house_session_info info = { .runs = session->runs, .is_live = live_is_on(session) };

	(void)house_due(house, session, &due_us);
	(void)str_copy(info.tenant, sizeof(info.tenant), session->tenant);
	(void)str_copy(info.key, sizeof(info.key), session->key);
	(void)str_copy(info.profile, sizeof(info.profile), session->profile);
	(void)str_copy(info.run_id, sizeof(info.run_id), session->run_id);
	if (session->state == SESSION_OPEN) {
		info.opened_ms_ago = (now_us - session->opened_at_us) / USEC_PER_MS;
		if (session->visits == 0)
			info.idle_ms = (now_us - session->last_call_us) / USEC_PER_MS;
	}
	/* While a call is under way it will be idle from its end on, at the earliest now. */
	if (session->visits > 0 && session->kept)
		due_us = now_us + house->config.kept_idle_ms * USEC_PER_MS;
	else if (session->visits > 0)
		due_us = MIN(session->opened_at_us + house->config.session_max_ms * USEC_PER_MS,
			now_us + house->config.session_idle_ms * USEC_PER_MS);
	if (due_us != UINT64_MAX && due_us > now_us)
		info.closes_in_ms = (due_us - now_us) / USEC_PER_MS;
	info.expires_in_ms = info.closes_in_ms;
	if (session->kept)
		describe_row(house, session->kept, &info);
	*ret_info = info;
}

/* Open, or about to be; not one that is due: its next call will not find it. */
static bool is_shown(const struct house *house, const struct house_session *session)
{
	usec_t due_us;

	if (strcmp(session->tenant, HOUSE_TENANT_OURS) == 0)
		return false;
	if (session->kept)
		return true;
	return (session->state == SESSION_OPEN || session->state == SESSION_OPENING) &&
	       !house_due(house, session, &due_us);
}

/* A stopped session; not one that was never stored, or is about to go. */
static bool row_is_shown(const struct kept *row)
{
	return !row->is_active && !row->is_removing && row->head.generation > 0;
}

int house_look(struct house *house, const char *tenant, const char *key,
	struct house_session_info *ret_info, struct fault *ret_fault)
{
	struct house_session *session;
	const struct kept *row;
	int r = 0;

	(void)pthread_mutex_lock(&house->mutex);
	session = house_find(house, tenant, key);
	row = session ? NULL : kept_find(&house->kept, tenant, key);
	*ret_info = (struct house_session_info){ .runs = 0 };
	if (session && is_shown(house, session))
		describe(house, session, ret_info);
	else if (row && row_is_shown(row))
		describe_row(house, row, ret_info);
	else if (!session && house_kept_is_broken(house, tenant, key, ret_fault))
		r = -EBADMSG;
	else
		r = house_not_there(ret_fault);
	(void)pthread_mutex_unlock(&house->mutex);
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct house_session_info *left = a, *right = b;
	int order = strcmp(left->tenant, right->tenant);

	return order != 0 ? order : strcmp(left->key, right->key);
}

size_t house_list(struct house *house, const char *tenant, struct house_session_info **ret_list)
{
	struct house_session_info *list;
	size_t n = 0;

	(void)pthread_mutex_lock(&house->mutex);
	(void)house_find(house, "", ""); /* drops what is lost */
	list = xcalloc(house->places + house->kept.n, sizeof(*list));
	for (struct house_session *at = house->sessions; at; at = at->next)
		if (is_shown(house, at) && (!tenant || strcmp(at->tenant, tenant) == 0))
			describe(house, at, &list[n++]);
	for (size_t i = 0; i < house->kept.n; i++) {
		const struct kept *row = house->kept.list[i];

		if (row_is_shown(row) && (!tenant || strcmp(row->head.tenant, tenant) == 0))
			describe_row(house, row, &list[n++]);
	}
	(void)pthread_mutex_unlock(&house->mutex);
	qsort(list, n, sizeof(*list), compare);
	*ret_list = list;
	return n;
}

unsigned house_retry_after_s(struct house *house)
{
	usec_t first_us = UINT64_MAX, now_us = clock_now_us(), due_us;
	unsigned seconds = RETRY_UNKNOWN_S;

	(void)pthread_mutex_lock(&house->mutex);
	for (struct house_session *at = house->sessions; at; at = at->next) {
		(void)house_due(house, at, &due_us);
		if (at->visits == 0)
			first_us = MIN(first_us, due_us);
	}
	(void)pthread_mutex_unlock(&house->mutex);
	if (first_us != UINT64_MAX)
		seconds = first_us <= now_us ? 1
					     : (unsigned)MIN((first_us - now_us) / USEC_PER_S + 1,
						       (usec_t)RETRY_MAX_S);
	return seconds;
}

void house_gauges(struct house *house, struct house_gauges *ret_gauges)
{
	struct house_gauges gauges = { .connections = pool_in_use(house->pool) };

	(void)pthread_mutex_lock(&house->mutex);
	(void)house_find(house, "", "");
	gauges.sessions = house->places;
	gauges.kept = (unsigned)house->kept.n;
	if (house->store) {
		gauges.store_bytes = store_used_bytes(house->store);
		gauges.store_syncs = store_syncs(house->store);
	}
	gauges.max_sessions = house->config.max_sessions;
	gauges.waiting = house->queue.n;
	gauges.calls = house->calls;
	for (struct house_session *at = house->sessions; at; at = at->next)
		gauges.runs += at->run != NULL;
	(void)pthread_mutex_unlock(&house->mutex);
	*ret_gauges = gauges;
}
