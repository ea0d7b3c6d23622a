/*
 * Theory of operation: a session's names are those that its interpreter told last, which it does
 * when they are others than before. When it is lost they become part of the loss, which is told
 * twice: to the run that saw it go, and to the first run of the next one, since the first of the
 * two answers may never have arrived. When the session goes as a whole, the loss is kept by its
 * name's hash, of the last LIVE_REMEMBERED such sessions, fairly by tenant.
 */
#include "house/live.h"

#include "base/alloc.h"
#include "base/macro.h"
#include "base/str.h"
#include "house/state.h"
#include "house/visit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void live_loss_fini(struct live_loss *loss)
{
	free(loss->names);
	*loss = (struct live_loss){ .reason = NULL };
}

static const char *reason_name(uint32_t lost)
{
	static const char *const names[WIRE_LOST_MAX] = { [WIRE_LOST_REQUEST] = "requested",
		[WIRE_LOST_TIMEOUT] = "timeout",
		[WIRE_LOST_MEMORY] = "memory",
		[WIRE_LOST_CANCELLED] = "cancelled",
		[WIRE_LOST_CRASH] = "crash" };

	return lost < WIRE_LOST_MAX ? names[lost] : "crash";
}

static const char *state_name(const struct house_session *session)
{
	return session->live.is_on ? HOUSE_LIVE : HOUSE_STATE;
}

int live_check(const struct house_session *session, const char *state, struct fault *ret_fault)
{
	if (!state || !session->live.is_decided || strcmp(state, state_name(session)) == 0)
		return 0;
	fault_set_field(ret_fault, "state",
		"the session is open with the state %s; close it first to change that",
		state_name(session));
	return -EINVAL;
}

void live_decide(struct house_session *session, const char *state)
{
	if (session->live.is_decided)
		return;
	session->live.is_decided = true;
	session->live.is_on = state && strcmp(state, HOUSE_LIVE) == 0;
}

/* The interpreter is gone; what is known of an earlier one that has not been told is older. */
static void lose(struct house_live *live, const char *reason)
{
	if (live->loss.reason && !live->names)
		return;
	live_loss_fini(&live->loss);
	live->loss = (struct live_loss){ .reason = reason, .names = TAKE_PTR(live->names) };
}

void live_leave(struct house *house, struct house_session *session, const char *reason)
{
	struct live_loss *place;

	if (!reason || !session->live.is_on || (!session->live.names && !session->live.loss.reason))
		return;
	lose(&session->live, reason);
	place = &house->losses[slots_take(house->lives, LIVE_REMEMBERED,
		house_name_hash(house, session->tenant, session->key),
		house_name_hash(house, session->tenant, ""))];
	live_loss_fini(place);
	*place = session->live.loss;
	session->live.loss = (struct live_loss){ .reason = NULL };
}

void live_recall(struct house *house, struct house_session *session)
{
	uint64_t hash = house_name_hash(house, session->tenant, session->key);
	size_t i = slots_give(house->lives, LIVE_REMEMBERED, hash);

	if (i == LIVE_REMEMBERED)
		return;
	live_loss_fini(&session->live.loss);
	session->live.loss = house->losses[i];
	house->losses[i] = (struct live_loss){ .reason = NULL };
}

void live_fini(struct house_session *session)
{
	free(TAKE_PTR(session->live.names));
	live_loss_fini(&session->live.loss);
}

void live_memory_fini(struct house *house)
{
	for (size_t i = 0; i < LIVE_REMEMBERED; i++)
		live_loss_fini(&house->losses[i]);
}

void visit_live_refuse(struct visit *visit)
{
	(void)pthread_mutex_lock(&visit->house->mutex);
	visit->session->live.is_decided = visit->session->live.is_on = false;
	(void)pthread_mutex_unlock(&visit->house->mutex);
}

void visit_live_started(
	struct visit *visit, const struct wire_run_started *started, struct live_loss *ret_loss)
{
	struct house_live *live = &visit->session->live;

	*ret_loss = (struct live_loss){ .reason = NULL };
	(void)pthread_mutex_lock(&visit->house->mutex);
	if (started->interpreter == WIRE_INTERPRETER_NEW) {
		if (started->lost != WIRE_LOST_NOTHING)
			lose(live, reason_name(started->lost));
		*ret_loss = live->loss;
		live->loss = (struct live_loss){ .reason = NULL };
		free(TAKE_PTR(live->names));
		/* Before a restart a kept session may have had one that nobody here knows. */
		if (!ret_loss->reason && !visit->reset_reason && visit->restored &&
			strcmp(visit->restored, CLOSED_RESTART) == 0)
			ret_loss->reason = visit->restored;
	}
	(void)pthread_mutex_unlock(&visit->house->mutex);
}

void visit_live_ended(struct visit *visit, const struct wire_run_ended *ended, struct str names,
	struct live_loss *ret_loss)
{
	struct house_live *live = &visit->session->live;

	*ret_loss = (struct live_loss){ .reason = NULL };
	(void)pthread_mutex_lock(&visit->house->mutex);
	if (ended->lost != WIRE_LOST_NOTHING) {
		lose(live, reason_name(ended->lost));
		ret_loss->reason = live->loss.reason;
		if (live->loss.names)
			ret_loss->names = xstrdup(live->loss.names);
	} else if (ended->is_kept && (names.p || !live->names)) {
		free(live->names);
		live->names = xasprintf(
			"%.*s", (int)MIN(names.n, (size_t)LIVE_NAMES_MAX), names.p ? names.p : "");
	}
	(void)pthread_mutex_unlock(&visit->house->mutex);
}
