/*
 * Theory of operation: visit_begin looks at the house again and again until the call can go on, is
 * refused, or has waited long enough; after every wait, be it for a place or for another thread
 * that opens or closes the session, it starts from what is so now. So there is no state of a waiter
 * that could be stale: a place is taken in the same moment, under the lock, in which it is seen
 * free and the turn is ours.
 *
 * The lock is left for each wait, each callback and each word with jaild.
 */
#include "house/visit/visit.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/log.h"
#include "base/macro.h"
#include "house/kept.h"
#include "house/state.h"
#include "keep/keep.h"
#include "pool/pool.h"
#include "sandbox/profile.h"

#include <errno.h>
#include <string.h>

/* A call that is on its way in. */
struct entry {
	struct house *house;
	struct visit_request *request;
	struct visit *visit;
	struct fault *fault;
	struct queue_waiter waiter;
	bool is_waiting;   /* on the queue, unless it was evicted */
	unsigned position; /* that was told */
	usec_t began_us;
	usec_t deadline_us;
};

/* What one look at the house came to; below 0 an error. */
enum look {
	LOOK_IN,    /* the session is open and ours */
	LOOK_OPEN,  /* it is ours to open */
	LOOK_AGAIN, /* it was due and is closed now */
	LOOK_WAIT,  /* another thread opens or closes it */
	LOOK_QUEUE, /* no place is free */
};

static int refuse(struct entry *entry, int error, enum fault_code code, const char *why)
{
	fault_set(entry->fault, code, "%s", why);
	return error;
}

static int refuse_full(struct entry *entry)
{
	counters_add(&entry->house->counters, COUNTER_REFUSED_FULL, 1);
	fault_set(entry->fault, FAULT_SANDBOX_BUSY,
		"all %u sessions (max_sessions) are in use, and none was closed in time",
		entry->house->config.max_sessions);
	return -EAGAIN;
}

/* Why a call that waited ends without having begun. */
static int refuse_ended(struct entry *entry, uint32_t reasons)
{
	int r = -ECANCELED;

	if (reasons & ATTENTION_DRAIN)
		r = refuse(entry, -ESHUTDOWN, FAULT_SANDBOX_UNAVAILABLE,
			"the server is shutting down");
	else if (reasons & ATTENTION_GONE)
		(void)refuse(entry, r, FAULT_RUN_FINISHED,
			"the client went away while the call waited for a place");
	else
		(void)refuse(entry, r, FAULT_RUN_FINISHED,
			"the run was cancelled while it waited for a place");
	fault_advise(entry->fault, r == -ECANCELED
					   ? "Nothing of it has run: send it again if it is wanted."
					   : "Try again when the server is up again.");
	return r;
}

/* What is being imported is not there yet. */
static int refuse_imported(struct entry *entry)
{
	if (!entry->request->opens)
		return house_not_there(entry->fault);
	counters_add(&entry->house->counters, COUNTER_REFUSED_BUSY, 1);
	(void)refuse(entry, -EBUSY, FAULT_SESSION_BUSY, "the session is being imported");
	fault_advise(entry->fault, "Try again when the import has ended, or take another session.");
	return -EBUSY;
}

static bool is_listed(const char *const *profiles, const char *profile)
{
	for (size_t i = 0; profiles && profiles[i]; i++)
		if (strcmp(profiles[i], profile) == 0)
			return true;
	return !profiles;
}

static int refuse_profile(struct entry *entry)
{
	fault_set_field(entry->fault, "profile", "this token may not ask for it");
	entry->fault->code = FAULT_FORBIDDEN;
	fault_advise(entry->fault,
		"Name no profile, or one of the token's (cloche token ls shows them), or use "
		"another token.");
	return -EPERM;
}

/* Another profile than the session's is a mistake, not a wish that can be met later. A session that
 * another token of the tenant has opened gives no more than one's own token does. */
static int profile_check(struct entry *entry, const struct house_session *session)
{
	const char *asked = entry->request->profile;

	if (!is_listed(entry->request->profiles, session->profile))
		return refuse_profile(entry);
	if (asked && strcmp(asked, session->profile) != 0) {
		fault_set_field(entry->fault, "profile",
			"the session is open with the profile %s; close it first to change that",
			session->profile);
		return -EINVAL;
	}
	return 0;
}

/* Another policy likewise. */
static int policy_check(struct entry *entry, bool is_kept)
{
	const char *asked = entry->request->policy, *is = is_kept ? HOUSE_KEPT : HOUSE_EPHEMERAL;

	if (!asked || strcmp(asked, is) == 0)
		return 0;
	fault_set_field(entry->fault, "policy",
		"the session is there with the policy %s; close it first to change that", is);
	return -EINVAL;
}

/* A stopped session: what was asked for must fit, as with an open one. */
static int kept_check(struct entry *entry, const struct kept *row)
{
	struct house_session as_if = { .tenant = "" };
	int r = policy_check(entry, true);

	(void)str_copy(as_if.profile, sizeof(as_if.profile), row->head.profile);
	return r < 0 ? r : profile_check(entry, &as_if);
}

/* Whether a session that is opened is to be kept. */
static bool wants_kept(const struct visit_request *request)
{
	const char *policy = request->policy ? request->policy : request->policy_default;

	return policy && strcmp(policy, HOUSE_KEPT) == 0;
}

/* Whether a new kept session may be. */
static int keep_check(struct entry *entry)
{
	const struct house *house = entry->house;

	if (house->store_trouble) {
		fault_set(entry->fault, FAULT_STORE_CORRUPT, "%s", house->store_trouble);
		fault_advise(entry->fault,
			"Until whoever runs the server has mended it (its log says more), leave "
			"the policy out, or say ephemeral.");
		return -EBADMSG;
	}
	if (!house->store) {
		fault_set_field(entry->fault, "policy", "this server keeps no sessions");
		fault_advise(entry->fault, "Leave the policy out, or say ephemeral.");
		return -EINVAL;
	}
	if (house->kept.n < house->config.kept_max)
		return 0;
	fault_set(entry->fault, FAULT_STORE_FULL, "%u sessions are kept, as many as may be",
		house->config.kept_max);
	fault_advise(entry->fault, "Close kept sessions (cloche session rm), or raise kept_max.");
	return -ENOSPC;
}

/* The profile of a session that is being opened. */
static int profile_choose(
	struct entry *entry, struct house_session *session, const struct kept *row)
{
	const struct visit_request *request = entry->request;
	const char *profile = row ? row->head.profile : request->profile;

	if (!profile)
		profile = entry->house->config.profile;
	/* Nobody named the default: the first that the tenant may have does as well. */
	if (!row && !request->profile && !is_listed(request->profiles, profile) &&
		request->profiles[0])
		profile = request->profiles[0];
	if (profile_get(profile, &session->limits, entry->fault) < 0)
		return -EINVAL;
	if (!is_listed(request->profiles, profile))
		return refuse_profile(entry);
	(void)str_copy(session->profile, sizeof(session->profile), profile);
	return visit_check_wall(request->wall_ms, profile, &session->limits, entry->fault);
}

/* The call is in: counts it. */
static void join(struct entry *entry, struct house_session *session)
{
	const struct visit_request *request = entry->request;
	struct visit *visit = entry->visit;

	house_reference(session);
	session->visits++;
	if (request->run_id) {
		live_decide(session, request->state);
		session->run = request->attention;
		(void)str_copy(session->run_id, sizeof(session->run_id), request->run_id);
	}
	*visit = (struct visit){ .house = entry->house,
		.session = session,
		.limits = &session->limits,
		.profile = session->profile,
		.is_run = request->run_id != NULL,
		.is_live = session->live.is_on,
		.is_kept = session->kept != NULL,
		.queue_us = entry->is_waiting ? clock_now_us() - entry->began_us : 0 };
	if (visit->is_run)
		visit->reset_reason = TAKE_PTR(session->reset);
	if (visit->is_run && session->state == SESSION_OPEN)
		visit->restored = TAKE_PTR(session->restored);
}

static int look_at_session(struct entry *entry, struct house_session *session)
{
	const struct visit_request *request = entry->request;
	struct fault ignored;
	usec_t due_us;
	const char *reason = house_due(entry->house, session, &due_us);
	int r;

	/* A kept one that comes back in the moment of its stop goes on. */
	if (reason && !session->kept) {
		counters_add(&entry->house->counters,
			strcmp(reason, "age") == 0 ? COUNTER_CLOSED_AGE : COUNTER_CLOSED_IDLE, 1);
		(void)house_close_session(entry->house, session, reason, &ignored);
		return LOOK_AGAIN;
	}
	if (session->state == SESSION_CLOSING && !request->opens && !session->kept)
		return house_not_there(entry->fault);
	if (session->state == SESSION_CLOSING)
		return LOOK_WAIT;
	if (request->run_id && session->run) {
		counters_add(&entry->house->counters, COUNTER_REFUSED_BUSY, 1);
		return refuse(
			entry, -EBUSY, FAULT_SESSION_BUSY, "the session has a run in progress");
	}
	if (session->state == SESSION_OPENING)
		return LOOK_WAIT;
	if (session->is_importing)
		return refuse_imported(entry);
	if (session->is_yielding && house_kept_yields(entry->house, session, &entry->waiter))
		return LOOK_QUEUE;
	r = policy_check(entry, session->kept != NULL);
	if (r == 0)
		r = profile_check(entry, session);
	if (r == 0)
		r = live_check(session, request->state, entry->fault);
	if (r < 0)
		return r;
	join(entry, session);
	return LOOK_IN;
}

/* A session is made for the entry, in a place that is free; row: that of a stopped one, or NULL. */
static int place_take(struct entry *entry, struct kept *row)
{
	const struct visit_request *request = entry->request;
	bool is_kept = row || wants_kept(request);
	struct house *house = entry->house;
	struct house_session *session = house_insert(house, request->tenant, request->key);
	int r = profile_choose(entry, session, row);

	if (r < 0) {
		house_drop(house, session, NULL);
		return r;
	}
	if (is_kept)
		house_kept_begin(house, session, row);
	live_recall(house, session);
	queue_serve(&house->queue, session->tenant);
	session->reset = house_recall(house, request->tenant, request->key);
	join(entry, session);
	entry->visit->is_new = !row;
	entry->visit->is_import = session->is_importing = !row && request->is_import;
	return LOOK_OPEN;
}

/* Nothing is open under the key. */
static int look_for_place(struct entry *entry)
{
	const struct visit_request *request = entry->request;
	struct house *house = entry->house;
	struct kept *row = kept_find(&house->kept, request->tenant, request->key);
	bool is_first = house->queue.n == 0 ||
			(entry->is_waiting && queue_position(&house->queue, &entry->waiter) == 1);
	int r = 0;

	if (row && (row->is_saving || row->is_removing))
		return LOOK_WAIT;
	if (!row && house_kept_is_broken(house, request->tenant, request->key, entry->fault))
		return -EBADMSG;
	if (row)
		r = kept_check(entry, row);
	else if (request->opens && wants_kept(request))
		r = keep_check(entry);
	if (r < 0)
		return r;
	if (!row && !request->opens)
		return house_not_there(entry->fault);
	if (!is_first)
		return LOOK_QUEUE;
	if (house->places >= house->config.max_sessions)
		return house_kept_evict(house) ? LOOK_AGAIN : LOOK_QUEUE;
	return place_take(entry, row);
}

static int look(struct entry *entry)
{
	struct house *house = entry->house;
	struct house_session *session;

	if (house->is_draining)
		return refuse_ended(entry, ATTENTION_DRAIN);
	session = house_find(house, entry->request->tenant, entry->request->key);
	return session ? look_at_session(entry, session) : look_for_place(entry);
}

/* Waits in the queue until something changes. Returns 0 to look again, or an error. */
static int wait_in_queue(struct entry *entry)
{
	struct house *house = entry->house;
	struct visit_request *request = entry->request;
	usec_t now_us = clock_now_us();
	unsigned position;
	uint32_t reasons;

	if (!entry->is_waiting) {
		if (now_us >= entry->deadline_us || queue_add(&house->queue, &entry->waiter) < 0)
			return refuse_full(entry);
		counters_add(&house->counters, COUNTER_QUEUED, 1);
		entry->is_waiting = true;
		return 0; /* its turn may be at once */
	}
	if (now_us >= entry->deadline_us || entry->waiter.is_evicted)
		return refuse_full(entry);
	position = queue_position(&house->queue, &entry->waiter);
	(void)pthread_mutex_unlock(&house->mutex);
	if (position != entry->position && request->on_queued &&
		request->on_queued(request, position) < 0)
		attention_raise(request->attention, ATTENTION_GONE);
	entry->position = position;
	now_us = clock_now_us();
	reasons = attention_wait(
		request->attention, now_us >= entry->deadline_us ? 0 : entry->deadline_us - now_us);
	(void)pthread_mutex_lock(&house->mutex);
	return reasons & ATTENTION_END ? refuse_ended(entry, reasons) : 0;
}

/* Looks until the call is in or refused. Under the lock. */
static int come_in(struct entry *entry)
{
	int r;

	for (;;) {
		r = look(entry);
		if (r == LOOK_WAIT)
			/* A second is a bound, not a measure: every change is broadcast. */
			house_wait(entry->house, clock_now_us() + USEC_PER_S);
		else if (r == LOOK_QUEUE)
			r = wait_in_queue(entry);
		else if (r != LOOK_AGAIN)
			break;
		if (r < 0)
			break;
	}
	if (entry->is_waiting) {
		queue_remove(&entry->house->queue, &entry->waiter);
		queue_wake(&entry->house->queue);
	}
	return r;
}

/* Has jaild make the session. Without the lock. */
static int open_in_jaild(struct entry *entry, struct house_session *session)
{
	char name[ID_LEN + 1];
	int r = id_make(name);

	entry->visit->jaild = pool_get(entry->house->pool, 0, entry->fault);
	if (!entry->visit->jaild)
		return -ENOTCONN;
	if (r == 0) {
		session->generation = pool_generation_of(entry->visit->jaild);
		r = jaild_session_open(entry->visit->jaild, name, &session->limits, &session->id);
	}
	if (r < 0)
		*entry->fault = entry->visit->jaild->fault;
	return r;
}

/* Fills the home of a kept session that had stopped. Without the lock. */
static int restore(struct entry *entry, struct house_session *session)
{
	const struct keep_home home = { .jaild = entry->visit->jaild, .session = session->id };
	uint64_t generation = session->kept->head.generation; /* nobody changes it in OPENING */
	int r;

	if (generation == 0)
		return 0;
	r = keep_restore(session->keep, &home, generation, entry->fault);
	if (session->keep->manifest.n > 0) {
		listed_change_begin(&session->listed); /* nobody else looks at it in OPENING */
		listed_change_end(&session->listed);
	}
	if (r < 0) {
		log_error("msg=\"a session could not be restored\" session=%s cause=%s",
			session->key, LOG_VALUE(entry->fault->text));
		(void)jaild_session_close(entry->visit->jaild, session->id);
	} else {
		counters_add(&entry->house->counters, COUNTER_RESTORED, 1);
	}
	return r;
}

/* The session is ours in OPENING. */
static int open_session(struct entry *entry)
{
	struct house *house = entry->house;
	struct house_session *session = entry->visit->session;
	int r = open_in_jaild(entry, session);

	if (r == 0 && session->kept)
		r = restore(entry, session);
	(void)pthread_mutex_lock(&house->mutex);
	if (r == 0 && entry->visit->is_run)
		entry->visit->restored = TAKE_PTR(session->restored);
	if (r < 0) {
		/* to be told yet */
		house_drop(house, session,
			entry->visit->is_run ? entry->visit->reset_reason : session->reset);
	} else {
		session->state = SESSION_OPEN;
		session->opened_at_us = session->last_call_us = clock_now_us();
		counters_add(&house->counters, COUNTER_OPENED, 1);
		house_note_open(house, session);
		queue_wake(&house->queue);		  /* somebody may wait for the same key */
		(void)pthread_cond_signal(&house->timer); /* its age has an end, visits or not */
		(void)pthread_cond_broadcast(&house->changed);
	}
	(void)pthread_mutex_unlock(&house->mutex);
	return r;
}

int visit_check_names(const char *tenant, const char *key, struct fault *ret_fault)
{
	size_t n = strlen(tenant);

	if (!id_key_is_valid(key, strlen(key))) {
		fault_set_field(ret_fault, "key",
			"a session key is 1 to %d of A-Z a-z 0-9 . _ : -, not . or ..", ID_KEY_MAX);
		return -EINVAL;
	}
	if (n == 0 || n > HOUSE_TENANT_MAX) {
		fault_set_field(
			ret_fault, "tenant", "a tenant's name is 1 to %d bytes", HOUSE_TENANT_MAX);
		return -EINVAL;
	}
	return 0;
}

int visit_check_wall(uint64_t wall_ms, const char *profile, const struct wire_limits *limits,
	struct fault *ret_fault)
{
	if (wall_ms <= limits->wall_ms)
		return 0;
	fault_set_field(ret_fault, "timeout_ms", "the profile %s allows %llu ms at most", profile,
		(unsigned long long)limits->wall_ms);
	return -EINVAL;
}

int visit_check_policy(const char *policy, struct fault *ret_fault)
{
	if (!policy || strcmp(policy, HOUSE_EPHEMERAL) == 0 || strcmp(policy, HOUSE_KEPT) == 0)
		return 0;
	fault_set_field(ret_fault, "policy", "must be %s or %s", HOUSE_EPHEMERAL, HOUSE_KEPT);
	return -EINVAL;
}

int visit_begin(struct house *house, struct visit_request *request, struct visit *ret_visit,
	struct fault *ret_fault)
{
	struct entry entry = { .house = house,
		.request = request,
		.visit = ret_visit,
		.fault = ret_fault,
		.waiter = { .tenant = request->tenant,
			.key = request->key,
			.attention = request->attention },
		.began_us = clock_now_us() };
	int r = visit_check_names(request->tenant, request->key, ret_fault);

	if (r == 0)
		r = visit_check_policy(request->policy, ret_fault);
	if (r < 0)
		return r;
	assert(request->attention);
	entry.deadline_us = entry.began_us + house->config.queue_wait_ms * USEC_PER_MS;
	(void)pthread_mutex_lock(&house->mutex);
	house->calls++;
	r = come_in(&entry);
	if (r < 0) {
		house->calls--;
		(void)pthread_cond_broadcast(&house->changed);
	}
	(void)pthread_mutex_unlock(&house->mutex);
	if (r < 0)
		return r;
	counters_add(&house->counters, COUNTER_QUEUE_US, ret_visit->queue_us);
	if (r == LOOK_OPEN) {
		r = open_session(&entry);
	} else {
		ret_visit->jaild = pool_get(house->pool, ret_visit->session->generation, ret_fault);
		r = ret_visit->jaild ? 0 : -ENOTCONN;
	}
	if (r < 0)
		visit_end(ret_visit);
	else
		ret_visit->id = ret_visit->session->id;
	return r;
}

void visit_transfer(struct visit *visit, enum transfer_kind kind, int client_fd)
{
	struct house *house = visit->house;
	struct house_session *session = visit->session;

	assert(visit->transfer.kind == TRANSFER_NONE && kind != TRANSFER_NONE);
	if (kind == TRANSFER_DOWNLOAD)
		pool_put(house->pool, TAKE_PTR(visit->jaild));
	(void)pthread_mutex_lock(&house->mutex);
	visit->transfer = (struct transfer){
		.next = session->transfers, .kind = kind, .client_fd = client_fd
	};
	session->transfers = &visit->transfer;
	if (session->state != SESSION_OPEN) /* it began to close before we were on its list */
		house_cut(session,
			session->state == SESSION_GONE ? TRANSFER_UPLOAD : TRANSFER_DOWNLOAD);
	(void)pthread_mutex_unlock(&house->mutex);
}

/* Under the lock. */
static void transfer_end(struct visit *visit)
{
	struct transfer **at = &visit->session->transfers;

	while (*at && *at != &visit->transfer)
		at = &(*at)->next;
	if (*at)
		*at = visit->transfer.next;
}

/* Under the lock; the session's memory stays the caller's to release. */
static void leave(struct visit *visit)
{
	struct house *house = visit->house;
	struct house_session *session = visit->session;

	transfer_end(visit);
	if (visit->is_run) {
		session->run = NULL;
		session->run_id[0] = '\0';
		session->runs++;
	}
	if (visit->is_import)
		session->is_importing = false;
	session->visits--;
	session->last_call_us = clock_now_us();
	if (session->kept && session->visits == 0)
		house_kept_idle(house, session);
	house->calls--;
	house_timer_check(house, session);
	(void)pthread_cond_broadcast(&house->changed);
}

void visit_end(struct visit *visit)
{
	struct house *house = visit->house;

	if (visit->jaild)
		pool_put(house->pool, visit->jaild);
	(void)pthread_mutex_lock(&house->mutex);
	leave(visit);
	house_release(visit->session);
	(void)pthread_mutex_unlock(&house->mutex);
	*visit = (struct visit){ .house = house };
}

void visit_end_closing(struct visit *visit)
{
	struct house_session *session = visit->session;
	struct house *house = visit->house;
	struct fault ignored;

	if (visit->jaild)
		pool_put(house->pool, visit->jaild);
	(void)pthread_mutex_lock(&house->mutex);
	visit->is_import = false; /* the session stays one that nobody gets into */
	leave(visit);
	if (session->state == SESSION_OPEN)
		(void)house_remove_session(house, session, &ignored);
	house_release(session);
	(void)pthread_mutex_unlock(&house->mutex);
	*visit = (struct visit){ .house = house };
}

static int save(struct visit *visit, struct kept_save *save, struct fault *ret_fault)
{
	int r;

	if (!visit->is_kept)
		return 0;
	save->jaild = visit->jaild;
	(void)pthread_mutex_lock(&visit->house->mutex);
	r = house_kept_save(visit->house, visit->session, save, ret_fault);
	(void)pthread_mutex_unlock(&visit->house->mutex);
	return r;
}

int visit_save(struct visit *visit, const struct snapshot *now, uint64_t mark,
	uint64_t *ret_dropped, struct fault *ret_fault)
{
	struct kept_save all = { .now = now, .mark = mark };
	int r = save(visit, &all, ret_fault);

	*ret_dropped = all.dropped;
	return r;
}

int visit_save_file(struct visit *visit, const char *path, struct fault *ret_fault)
{
	return save(visit, &(struct kept_save){ .path = path }, ret_fault);
}

int visit_save_removal(struct visit *visit, const char *path, struct fault *ret_fault)
{
	return save(visit, &(struct kept_save){ .path = path, .is_removal = true }, ret_fault);
}

struct runs *visit_runs(struct house *house)
{
	return house->runs;
}
