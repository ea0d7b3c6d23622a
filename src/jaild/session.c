#include "jaild/session.h"

#include "base/alloc.h"
#include "base/str.h"
#include "jaild/answer.h"
#include "jaild/cell/cell_build.h"
#include "jaild/spares/walk.h"
#include "jaild/upload.h"

#include <errno.h>
#include <string.h>

/*
 * A session is an id pair, a memory cgroup and a home; it has no process of its own. It is closed
 * in two steps, because the cell that may be running in it needs a moment to die.
 */

struct session *session_find(const struct jaild *jaild, uint64_t id)
{
	for (struct session *session = jaild->sessions; session; session = session->next) {
		if (session->id == id && !session->is_closing && !session->is_spare)
			return session;
	}
	return NULL;
}

static bool key_is_used(const struct jaild *jaild, const char *key)
{
	for (const struct session *session = jaild->sessions; session; session = session->next) {
		if (strcmp(session->key, key) == 0)
			return true;
	}
	return false;
}

static bool pair_is_used(const struct jaild *jaild, uint32_t init_id)
{
	for (const struct session *session = jaild->sessions; session; session = session->next) {
		if (session->ids.init_id == init_id)
			return true;
	}
	return false;
}

/* Ids 1 and 2 are the first pair, 3 and 4 the second; 0 is jaild. The search goes on where the last
 * one ended, so that an id is not used again soon. */
static int ids_take(struct jaild *jaild, struct id_pair *ret_ids)
{
	uint32_t pairs = (jaild->ids - 1) / 2;

	for (uint32_t i = 0; i < pairs; i++) {
		uint32_t init_id = 1 + 2 * (jaild->next_pair++ % pairs);

		if (!pair_is_used(jaild, init_id)) {
			*ret_ids = (struct id_pair){ init_id, init_id + 1 };
			return 0;
		}
	}
	return -EAGAIN;
}

void session_free(struct session *session)
{
	struct jaild *jaild = session->jaild;

	loop_timer_clear(&jaild->loop, &session->spare_timer);
	uploads_drop(jaild, session);
	home_close(&session->home);
	cell_rest(session);
	if (session->has_cgroup)
		(void)cgroup_session_remove(&jaild->cgroups, &session->cgroup);
	for (struct session **at = &jaild->sessions; *at; at = &(*at)->next) {
		if (*at == session) {
			*at = session->next;
			if (session->is_spare)
				jaild->spares.n--;
			else
				jaild->n_sessions--;
			break;
		}
	}
	free(session);
}

/* Group and home; the caller frees on a failure. */
static bool session_build(struct session *session, struct failure *failure)
{
	struct jaild *jaild = session->jaild;

	if (step_failed(failure, STAGE_SESSION_IDS, ids_take(jaild, &session->ids)))
		return false;
	session->has_cgroup = true;
	if (step_failed(failure, STAGE_SESSION_CGROUP,
		    cgroup_session_make(&jaild->cgroups, session->number, &session->cgroup)))
		return false;
	return !step_failed(failure, STAGE_SESSION_HOME,
		home_make(jaild->homes_fd, session->number, session->ids.script_id,
			&session->limits, &session->home));
}

struct session *session_make(
	struct jaild *jaild, const struct wire_limits *limits, struct failure *ret_failure)
{
	struct session *session = xcalloc(1, sizeof(*session));

	session->jaild = jaild;
	session->number = ++jaild->next_number;
	session->limits = *limits;
	session->home.fd = -1;
	live_init(&session->live);
	turn_init(&session->turn);
	session->warm = WIRE_WARM_SMALL;
	network_init(&session->network);
	cgroup_session_init(&session->cgroup);
	session->is_spare = true;
	session->next = jaild->sessions;
	jaild->sessions = session;
	jaild->spares.n++;
	if (session_build(session, ret_failure))
		return session;
	session_free(session);
	return NULL;
}

/* One that is made on demand is a spare for a moment. */
static struct session *session_get(
	struct jaild *jaild, const struct wire_limits *limits, struct failure *failure)
{
	struct session *session = spares_take(jaild, limits);

	if (session)
		return session;
	spares_make_room(jaild);
	session = session_make(jaild, limits, failure);
	if (!session)
		return NULL;
	session->is_spare = false;
	jaild->spares.n--;
	jaild->n_sessions++;
	return session;
}

struct session *session_open(
	struct jaild *jaild, const struct wire_session_open *request, struct failure *ret_failure)
{
	int full = jaild->sessions_max < SESSIONS_MAX ? -ENFILE : -EAGAIN;
	struct session *session;

	if (failed(ret_failure, STAGE_NONE, key_is_used(jaild, request->key) ? -EEXIST : 0) ||
		failed(ret_failure, STAGE_NONE, jaild->n_sessions < jaild->sessions_max ? 0 : full))
		return NULL;
	session = session_get(jaild, &request->limits, ret_failure);
	if (!session)
		return NULL;
	session->id = jaild->next_id++;
	(void)str_copy(session->key, sizeof(session->key), request->key);
	return session;
}

void session_close(struct session *session, const struct reply *reply)
{
	/* Each of these may end at once; only a session that is closing is freed by that. */
	if (session->cell)
		cell_cancel(session->cell);
	if (session->walk)
		walk_stop(session->walk);
	turn_forget(session, 0);
	live_end(session);
	cell_spare_drop(session);
	session->is_closing = true;
	session->close_reply = *reply;
	session_settle(session);
}

void session_settle(struct session *session)
{
	struct jaild *jaild = session->jaild;
	struct reply reply = session->close_reply;

	if (session->cell || session->fading || session->live.cell || session->spare ||
		session->walk)
		return;
	if (session->is_closing) {
		session_free(session);
		answer_done(jaild, &reply);
	} else if (session->is_spare) {
		spares_lose(session);
	}
}

void sessions_forget(struct jaild *jaild, uint64_t client)
{
	struct session *next;

	/* a cancel can end a session that is being closed, at once */
	for (struct session *session = jaild->sessions; session; session = next) {
		next = session->next;
		if (session->walk && session->walk->reply.client == client)
			walk_stop(session->walk);
		turn_forget(session, client);
		if (session->cell && session->cell->reply.client == client)
			cell_cancel(session->cell);
	}
}

void sessions_end(struct jaild *jaild)
{
	while (jaild->sessions) {
		struct session *session = jaild->sessions;

		if (session->walk)
			walk_stop(session->walk);
		if (session->live.cell && session->live.cell != session->cell) {
			(void)cgroup_cell_kill(&jaild->cgroups, &session->live.cell->cgroup);
			cell_destroy(session->live.cell);
		}
		if (session->cell) {
			(void)cgroup_cell_kill(&jaild->cgroups, &session->cell->cgroup);
			cell_destroy(session->cell);
			session->cell = NULL;
		}
		if (session->fading)
			cell_destroy(session->fading);
		session->fading = NULL;
		if (session->spare)
			cell_destroy(session->spare);
		session->spare = NULL;
		session_free(session);
	}
}
