/*
 * Theory of operation: an answer is given when the store has what the call changed, so the store is
 * never behind an answer, and a session can be stopped by dropping its home. The one exception is a
 * save that failed (a full disk): the client was told, the session is dirty, and is not stopped
 * before it could be saved; what is in its home is not lost for want of room elsewhere.
 *
 * Two sessions of one key never touch the same files: a stopped one is not opened while its row
 * says is_saving or is_removing.
 */
#include "house/kept.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "jail/files/snapshot.h"
#include "keep/keep.h"
#include "pool/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST_TRIES 3 /* of a listing that took too long, on a machine that is busy */
#define RETRY_US   (30 * USEC_PER_S) /* between two tries to stop a dirty session */
#define LIST_FLAGS (WIRE_LIST_HASH | WIRE_LIST_TARGETS)

void house_kept_begin(struct house *house, struct house_session *session, struct kept *row)
{
	struct manifest_head head = { .generation = 0 };

	session->keep = xcalloc(1, sizeof(*session->keep));
	keep_init(session->keep, house->store, session->tenant, session->key, session->profile);
	head = session->keep->manifest.head;
	session->kept = row ? row : kept_add(&house->kept, &head);
	session->kept->is_active = true;
	session->restored = session->kept->stopped;
	session->kept->stopped = NULL;
	session->runs = session->kept->head.runs;
	session->live.was_on = session->kept->head.is_live;
}

/* A row that is of no use: nothing is stored, and nobody is at work. */
static void row_settle(struct house *house, struct kept *row)
{
	if (!row->is_active && !row->is_saving && !row->is_removing && row->head.generation == 0)
		kept_remove(&house->kept, row);
}

/* The thread writes the list down, and looks at when a row is unused for too long: it is woken,
 * since what else it waits for may be an hour away. */
static void generations_are_due(struct house *house)
{
	house->is_generations_due = true;
	(void)pthread_cond_signal(&house->timer);
}

void house_kept_drop(struct house *house, struct house_session *session, const char *reason)
{
	struct kept *row = TAKE_PTR(session->kept);

	row->is_active = false;
	row->head.runs = session->runs;
	row->head.is_live = live_is_on(session);
	row->stopped = reason ? reason : "asked";
	/* told by nobody yet: an opening that failed */
	if (session->restored && session->opened_at_us == 0)
		row->stopped = session->restored;
	row->used_at_us = (int64_t)MAX(session->last_call_us, session->opened_at_us);
	if (session->opened_at_us == 0)
		row->used_at_us = (int64_t)clock_now_us();
	generations_are_due(house);
	row_settle(house, row);
}

const char *house_kept_due(
	const struct house *house, const struct house_session *session, usec_t *ret_due_us)
{
	uint64_t idle_ms = MIN(house->config.kept_idle_ms, house->config.kept_unused_ms);
	usec_t due_us = session->last_call_us + idle_ms * USEC_PER_MS;

	*ret_due_us = UINT64_MAX;
	if (session->state != SESSION_OPEN || session->visits > 0)
		return NULL;
	*ret_due_us = MAX(due_us, session->retry_at_us);
	return *ret_due_us > clock_now_us() ? NULL : "idle";
}

/* Without this a client that calls again and again would keep its place from all who wait. */
void house_kept_idle(struct house *house, struct house_session *session)
{
	if (house->queue.n == 0)
		return;
	session->is_yielding = true;
	queue_wake(&house->queue);
}

bool house_kept_yields(
	struct house *house, struct house_session *session, const struct queue_waiter *waiter)
{
	bool is_needed = house->places >= house->config.max_sessions && session->visits == 0;

	if (!is_needed || house->queue.n == 0 ||
		(house->queue.n == 1 && house->queue.first == waiter))
		session->is_yielding = false;
	return session->is_yielding;
}

bool house_kept_evict(struct house *house)
{
	struct house_session *oldest = NULL;
	struct fault fault;

	for (struct house_session *at = house->sessions; at; at = at->next)
		if (at->kept && at->state == SESSION_OPEN && at->visits == 0 && !at->is_dirty &&
			(!oldest || at->last_call_us < oldest->last_call_us))
			oldest = at;
	if (!oldest)
		return false;
	counters_add(&house->counters, COUNTER_STOPPED_ROOM, 1);
	(void)house_close_session(house, oldest, "room", &fault);
	return true;
}

bool house_kept_expire(struct house *house, usec_t *ret_next_us)
{
	int64_t unused_us = (int64_t)(house->config.kept_unused_ms * USEC_PER_MS);
	int64_t now_us = (int64_t)clock_now_us();
	struct fault fault;

	for (size_t i = 0; i < house->kept.n; i++) {
		struct kept *row = house->kept.list[i];
		int64_t due_us = row->used_at_us + unused_us;

		if (row->is_active || row->is_saving || row->is_removing)
			continue;
		if (due_us > now_us) {
			*ret_next_us = MIN(*ret_next_us, (usec_t)due_us);
			continue;
		}
		counters_add(&house->counters, COUNTER_KEPT_EXPIRED, 1);
		house_remember(house, row->head.tenant, row->head.key, "unused");
		row->is_removing = true;
		if (house_kept_remove(house, row, &fault) < 0) {
			log_error("msg=\"an unused session could not be removed\" cause=%s",
				LOG_VALUE(fault.text));
			row->used_at_us = (int64_t)clock_now_us();
		}
		return true;
	}
	return false;
}

int house_kept_remove(struct house *house, struct kept *row, struct fault *ret_fault)
{
	char name[STORE_NAME_SIZE];
	int r;

	while (row->is_saving)
		(void)pthread_cond_wait(&house->changed, &house->mutex);
	store_name(house->store, row->head.tenant, row->head.key, name);
	(void)pthread_mutex_unlock(&house->mutex);
	r = store_remove(house->store, name);
	(void)pthread_mutex_lock(&house->mutex);
	generations_are_due(house);
	if (r == 0 || r == -ENOENT) {
		kept_remove(&house->kept, row);
		r = 0;
	} else {
		row->is_removing = false;
		(void)keep_fault(r, ret_fault);
	}
	(void)pthread_cond_broadcast(&house->changed);
	return r;
}

int house_kept_remove_broken(
	struct house *house, const char *tenant, const char *key, struct fault *ret_fault)
{
	char name[STORE_NAME_SIZE];
	struct fault ignored;
	int r;

	if (!house_kept_is_broken(house, tenant, key, &ignored))
		return -ENOENT;
	store_name(house->store, tenant, key, name);
	(void)pthread_mutex_unlock(&house->mutex);
	r = store_remove(house->store, name);
	(void)pthread_mutex_lock(&house->mutex);
	if (r == 0 || r == -ENOENT)
		kept_forget_broken(&house->kept, name);
	else
		(void)keep_fault(r, ret_fault);
	return r == -ENOENT ? 0 : r;
}

bool house_kept_is_broken(
	struct house *house, const char *tenant, const char *key, struct fault *ret_fault)
{
	char name[STORE_NAME_SIZE];

	if (house->kept.n_broken == 0)
		return false;
	store_name(house->store, tenant, key, name);
	if (!kept_is_broken(&house->kept, name))
		return false;
	(void)keep_fault(-EBADMSG, ret_fault);
	return true;
}

bool house_kept_note(struct house *house)
{
	struct manifest_head *heads = NULL;
	size_t n;
	int r;

	if (!house->is_generations_due || !house->store)
		return false;
	house->is_generations_due = false;
	n = kept_heads(&house->kept, &heads);
	(void)pthread_mutex_unlock(&house->mutex);
	r = store_generations_write(house->store, heads, n);
	if (r < 0)
		log_warning("msg=\"the list of generations was not written\" error=%s",
			LOG_VALUE(strerror(-r)));
	free(heads);
	(void)pthread_mutex_lock(&house->mutex);
	return true;
}

void house_listing_begin(struct house *house, struct house_session *session)
{
	(void)pthread_mutex_lock(&house->mutex);
	while (session->is_listing)
		(void)pthread_cond_wait(&house->changed, &house->mutex);
	session->is_listing = true;
	(void)pthread_mutex_unlock(&house->mutex);
}

void house_listing_end(struct house *house, struct house_session *session)
{
	(void)pthread_mutex_lock(&house->mutex);
	session->is_listing = false;
	(void)pthread_cond_broadcast(&house->changed);
	(void)pthread_mutex_unlock(&house->mutex);
}

int house_list_home(struct house *house, struct house_session *session, struct jaild *jaild,
	uint32_t flags, struct snapshot *ret_snapshot)
{
	int r;

	house_listing_begin(house, session);
	r = snapshot_fetch(jaild, session->id, flags, &house->hash_key, ret_snapshot);
	house_listing_end(house, session);
	return r;
}

/* Takes the right to write to the session's files. Returns 0, 1 when they are being removed anyhow,
 * or -errno with the fault when the session is gone. */
static int saving_begin(struct house *house, struct house_session *session, struct fault *ret_fault)
{
	while (session->kept && session->kept->is_saving)
		(void)pthread_cond_wait(&house->changed, &house->mutex);
	if (!session->kept) {
		fault_set(ret_fault, FAULT_SANDBOX_UNAVAILABLE,
			"the session ended before its files were stored");
		fault_advise(ret_fault, "Look at the session (cloche session show) and try again.");
		return -ESTALE;
	}
	if (session->kept->is_removing)
		return 1;
	session->kept->is_saving = true;
	return 0;
}

/* The whole home: by the listing that is there, or a new one where it is not whole for want of
 * time. */
static int save_all(struct house *house, struct house_session *session, struct kept_save *save,
	struct fault *ret_fault)
{
	const struct keep_home home = { .jaild = save->jaild, .session = session->id };
	struct snapshot own = SNAPSHOT_INIT;
	const struct snapshot *now = save->now;
	int r = 0;

	for (int tries = 0; tries < LIST_TRIES && (!now || (now->cut & LISTING_CUT_TIME));
		tries++) {
		snapshot_fini(&own);
		r = house_list_home(house, session, save->jaild, LIST_FLAGS, &own);
		now = r < 0 ? NULL : &own;
		if (r < 0)
			*ret_fault = save->jaild->fault;
		if (r < 0 && r != -ETIMEDOUT)
			break;
	}
	if (r == 0 && now->cut & LISTING_CUT_TIME) {
		fault_set(ret_fault, FAULT_SANDBOX_UNAVAILABLE,
			"the home could not be read in time to be stored");
		fault_advise(ret_fault,
			"The next call of the session tries again; with fewer files it is faster.");
		r = -ETIMEDOUT;
	}
	if (r == 0)
		r = keep_save(session->keep, &home, now, &save->dropped, ret_fault);
	if (r == 0 && now->is_truncated)
		save->dropped++; /* at least */
	snapshot_fini(&own);
	return r;
}

static int save_one(
	struct house_session *session, const struct kept_save *save, struct fault *ret_fault)
{
	const struct keep_home home = { .jaild = save->jaild, .session = session->id };

	return save->is_removal ? keep_save_removal(session->keep, save->path, ret_fault)
				: keep_save_file(session->keep, &home, save->path, ret_fault);
}

int house_kept_save(struct house *house, struct house_session *session, struct kept_save *save,
	struct fault *ret_fault)
{
	int r = saving_begin(house, session, ret_fault);
	struct kept *row = session->kept;
	bool is_whole;

	if (r != 0)
		return MIN(r, 0);
	/* What was brought in or removed since has been saved already: now would undo that. */
	if (!listed_is_at(&session->listed, save->mark))
		save->now = NULL;
	is_whole = !save->path || (session->is_dirty && !session->run);
	session->keep->manifest.head.runs = session->runs + (session->run ? 1 : 0);
	session->keep->manifest.head.is_live = live_is_on(session);
	(void)pthread_mutex_unlock(&house->mutex);
	r = is_whole ? save_all(house, session, save, ret_fault)
		     : save_one(session, save, ret_fault);
	(void)pthread_mutex_lock(&house->mutex);
	row->is_saving = false;
	row->head = session->keep->manifest.head;
	if (r < 0) {
		session->is_dirty = true;
		counters_add(&house->counters, COUNTER_STORE_FAILED, 1);
	} else if (is_whole) {
		session->is_dirty = false;
	}
	if (!session->kept) /* it went meanwhile, and the thread has passed its row by */
		generations_are_due(house);
	row_settle(house, row);
	(void)pthread_cond_broadcast(&house->changed);
	return r;
}

int house_kept_flush(struct house *house, struct house_session *session, struct fault *ret_fault)
{
	struct kept_save save = { .jaild = NULL };
	int r;

	if (!session->kept || !session->is_dirty || session->kept->is_removing)
		return 0;
	house_reference(session);
	(void)pthread_mutex_unlock(&house->mutex);
	save.jaild = pool_get(house->pool, session->generation, ret_fault);
	(void)pthread_mutex_lock(&house->mutex);
	r = save.jaild ? house_kept_save(house, session, &save, ret_fault) : -ENOTCONN;
	(void)pthread_mutex_unlock(&house->mutex);
	if (save.jaild)
		pool_put(house->pool, save.jaild);
	(void)pthread_mutex_lock(&house->mutex);
	if (r < 0)
		session->retry_at_us = clock_now_us() + RETRY_US;
	house_release(session);
	return r;
}
