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

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void live_loss_fini(struct live_loss *loss)
{
	free(loss->names);
	*loss = (struct live_loss){ .reason = NULL };
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
	session->live.is_on = state ? strcmp(state, HOUSE_LIVE) == 0 : session->live.was_on;
}

bool live_is_on(const struct house_session *session)
{
	return session->live.is_decided ? session->live.is_on : session->live.was_on;
}

void live_lose(struct house_live *live, const char *reason)
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
	live_lose(&session->live, reason);
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
	session->live.was_on = true;
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
