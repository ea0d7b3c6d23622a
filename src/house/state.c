/*
 * Theory of operation: the list of sessions and what it remembers of those that are gone. There are
 * few (max_sessions), so a list that is walked is enough. All runs under the house's lock; see
 * house/state.h for who may do what.
 */
#include "house/state.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/str.h"
#include "house/kept.h"
#include "keep/keep.h"
#include "pool/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* FNV-1a, seeded so that nobody can look for two keys that collide. Never 0. */
uint64_t house_name_hash(const struct house *house, const char *tenant, const char *key)
{
	uint64_t hash = 14695981039346656037u ^ house->seed;

	for (const char *p = tenant; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211u;
	hash = (hash ^ '\n') * 1099511628211u;
	for (const char *p = key; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211u;
	return hash | 1;
}

void house_remember(struct house *house, const char *tenant, const char *key, const char *reason)
{
	uint64_t hash = house_name_hash(house, tenant, key);
	uint64_t owner = house_name_hash(house, tenant, "");

	house->closed_why[slots_take(house->closed, HOUSE_REMEMBERED, hash, owner)] = reason;
	known_add(house->known, hash, owner);
}

const char *house_recall(struct house *house, const char *tenant, const char *key)
{
	uint64_t hash = house_name_hash(house, tenant, key);

	size_t i = slots_give(house->closed, HOUSE_REMEMBERED, hash);

	known_remove(house->known, hash);
	return i < HOUSE_REMEMBERED ? house->closed_why[i] : NULL;
}

void house_note_open(struct house *house, const struct house_session *session)
{
	if (!session->kept) /* the store knows those, and nothing of them is lost */
		known_add(house->known, house_name_hash(house, session->tenant, session->key),
			house_name_hash(house, session->tenant, ""));
}

void house_reference(struct house_session *session)
{
	session->references++;
}

/* gcc's analyzer takes two sessions of the list for the same one (drop_lost); it knows no lists. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wanalyzer-use-after-free"
void house_release(struct house_session *session)
{
	if (--session->references > 0)
		return;
	if (session->keep)
		keep_fini(session->keep);
	free(session->keep);
	live_fini(session);
	listed_fini(&session->listed);
	free(session);
}
#pragma GCC diagnostic pop

void house_cut(struct house_session *session, enum transfer_kind up_to)
{
	for (struct transfer *at = session->transfers; at; at = at->next)
		if (at->client_fd >= 0 && at->kind <= up_to)
			(void)shutdown(at->client_fd, SHUT_RDWR);
}

void house_drop(struct house *house, struct house_session *session, const char *reason)
{
	for (struct house_session **at = &house->sessions; *at; at = &(*at)->next)
		if (*at == session) {
			*at = session->next;
			break;
		}
	session->state = SESSION_GONE;
	house_cut(session, TRANSFER_UPLOAD);
	house->places--;
	known_remove(house->known, house_name_hash(house, session->tenant, session->key));
	live_leave(house, session, reason);
	/* Of a kept session nothing is gone but what could not be stored. */
	if (reason && (!session->kept || session->is_dirty))
		house_remember(house, session->tenant, session->key, reason);
	if (session->kept)
		house_kept_drop(house, session, reason);
	queue_wake(&house->queue);
	(void)pthread_cond_broadcast(&house->changed);
	house_release(session);
}

/* Forgets the sessions of a jaild that is gone. One that is being opened or closed is left to
 * whoever does it. */
static void drop_lost(struct house *house)
{
	uint64_t generation = pool_generation(house->pool);
	struct house_session *next;

	for (struct house_session *at = house->sessions; at; at = next) {
		next = at->next;
		if (at->state != SESSION_OPEN || at->generation == generation)
			continue;
		counters_add(&house->counters, COUNTER_LOST, 1);
		house_drop(house, at, CLOSED_RESTART);
	}
}

struct house_session *house_find(struct house *house, const char *tenant, const char *key)
{
	drop_lost(house);
	for (struct house_session *at = house->sessions; at; at = at->next)
		if (strcmp(at->key, key) == 0 && strcmp(at->tenant, tenant) == 0)
			return at;
	return NULL;
}

int house_not_there(struct fault *ret_fault)
{
	fault_set(ret_fault, FAULT_NOT_FOUND, "there is no such session");
	fault_advise(ret_fault,
		"Check the key: GET /v1/sessions (cloche session ls) lists the sessions; one that "
		"has closed is gone, with its files.");
	return -ENOENT;
}

struct house_session *house_insert(struct house *house, const char *tenant, const char *key)
{
	struct house_session *session = xcalloc(1, sizeof(*session));
	int r = str_copy(session->tenant, sizeof(session->tenant), tenant);

	if (r == 0)
		r = str_copy(session->key, sizeof(session->key), key);
	assert(r == 0); /* checked by visit_begin */
	session->state = SESSION_OPENING;
	session->references = 1;
	listed_init(&session->listed);
	session->next = house->sessions;
	house->sessions = session;
	house->places++;
	return session;
}

const char *house_due(
	const struct house *house, const struct house_session *session, usec_t *ret_due_us)
{
	usec_t now_us = clock_now_us();
	usec_t idle_us = session->last_call_us + house->config.session_idle_ms * USEC_PER_MS;
	usec_t age_us = session->opened_at_us + house->config.session_max_ms * USEC_PER_MS;

	if (session->kept)
		return house_kept_due(house, session, ret_due_us);
	*ret_due_us = UINT64_MAX;
	if (session->state != SESSION_OPEN)
		return NULL;
	if (session->visits == 0)
		*ret_due_us = idle_us;
	if (!session->run)
		*ret_due_us = MIN(*ret_due_us, age_us);
	if (*ret_due_us > now_us)
		return NULL;
	return session->run || age_us > now_us ? "idle" : "age";
}

/* Most visits only move a session's end further away, and waking a thread for nothing is a tenth of
 * a short call. */
void house_timer_check(struct house *house, const struct house_session *session)
{
	usec_t due_us;

	(void)house_due(house, session, &due_us);
	if (due_us < house->timer_at_us)
		(void)pthread_cond_signal(&house->timer);
}

void house_wait(struct house *house, usec_t until_us)
{
	struct timespec until = { .tv_sec = (time_t)(until_us / USEC_PER_S),
		.tv_nsec = (long)(until_us % USEC_PER_S * 1000) };

	(void)pthread_cond_timedwait(&house->changed, &house->mutex, &until);
}

/* Has jaild free it. Without the lock. */
static int jaild_free(
	struct house *house, const struct house_session *session, struct fault *ret_fault)
{
	struct jaild *jaild = pool_get(house->pool, session->generation, ret_fault);
	int r;

	if (!jaild)
		return pool_generation(house->pool) == session->generation ? -EBUSY : 0;
	r = jaild_session_close(jaild, session->id);
	if (r < 0)
		*ret_fault = jaild->fault;
	pool_put(house->pool, jaild);
	/* Not there any more is closed, whyever. */
	return r == -ESRCH || r == -ENOENT || pool_generation(house->pool) != session->generation
		       ? 0
		       : r;
}

int house_close_session(struct house *house, struct house_session *session, const char *reason,
	struct fault *ret_fault)
{
	usec_t deadline_us = clock_now_us() + HOUSE_CLOSE_WAIT_MS * USEC_PER_MS;
	char name[STORE_NAME_SIZE];
	int r;

	assert(session->state == SESSION_OPEN);
	session->state = SESSION_CLOSING;
	house_cut(session, TRANSFER_DOWNLOAD);
	if (session->run)
		attention_raise(session->run, ATTENTION_CLOSE);
	while (session->visits > 0 && clock_now_us() < deadline_us)
		house_wait(house, deadline_us);
	house_cut(session, TRANSFER_UPLOAD);
	deadline_us += HOUSE_CUT_WAIT_MS * USEC_PER_MS;
	while (session->transfers && clock_now_us() < deadline_us)
		house_wait(house, deadline_us);
	/* What the store lacks is not given up. */
	r = house_kept_flush(house, session, ret_fault);
	if (r < 0 && session->generation == pool_generation(house->pool)) {
		session->state = SESSION_OPEN;
		(void)pthread_cond_broadcast(&house->changed);
		return r;
	}
	house_reference(session);
	name[0] = '\0';
	if (session->kept && !session->kept->is_removing)
		store_name(house->store, session->tenant, session->key, name);
	(void)pthread_mutex_unlock(&house->mutex);
	r = jaild_free(house, session, ret_fault);
	if (name[0])
		store_touch(house->store, name);
	if (r < 0)
		log_error("msg=\"jaild did not close a session\" session=%s cause=%s", session->key,
			LOG_VALUE(ret_fault->text));
	(void)pthread_mutex_lock(&house->mutex);
	house_drop(house, session, reason);
	house_release(session);
	return r;
}
