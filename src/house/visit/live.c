/*
 * What a run's visit learns of its session's live interpreter: whether it is a new one, what is
 * lost with the one before, and which names it holds now.
 */
#include "house/visit/live.h"

#include "base/alloc.h"
#include "base/macro.h"
#include "house/live.h"
#include "house/state.h"
#include "house/visit/visit.h"

#include <stdlib.h>
#include <string.h>

static const char *reason_name(uint32_t lost)
{
	static const char *const names[WIRE_LOST_MAX] = { [WIRE_LOST_REQUEST] = "requested",
		[WIRE_LOST_TIMEOUT] = "timeout",
		[WIRE_LOST_MEMORY] = "memory",
		[WIRE_LOST_CANCELLED] = "cancelled",
		[WIRE_LOST_CRASH] = "crash" };

	return lost < WIRE_LOST_MAX ? names[lost] : "crash";
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
			live_lose(live, reason_name(started->lost));
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
		live_lose(live, reason_name(ended->lost));
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
