#include "jaild/spares/spares.h"

#include "base/log.h"
#include "base/macro.h"
#include "jaild/cell/cell.h"
#include "jaild/session.h"

#include <string.h>

/*
 * Theory of operation. A spare session stands in jaild's list like any other, but has no key and no
 * id, so no request can mean it. Its life begins here, in two steps (each keeps jaild from
 * listening for about a millisecond): the session, then its cell. It ends when a SESSION_OPEN takes
 * it, which costs a comparison and a name; when its init dies; or when spares are not wanted any
 * more.
 *
 * Nothing of a spare has been seen by a client or a script, so whose it becomes does not matter.
 * What the next owner finds is what a session that is made on demand has, a few seconds older.
 */

/* Behind the last request: long enough for the next one of a client that is at work. */
#define STEP_DELAY_US (4 * 1000ULL)
/* After one that could not be built, or died: not again and again at full speed. */
#define RETRY_US (1000 * 1000ULL)

static bool is_whole(const struct session *session)
{
	return session->is_spare && !session->is_closing && session->spare;
}

unsigned spares_ready(const struct jaild *jaild)
{
	unsigned n = 0;

	for (const struct session *session = jaild->sessions; session; session = session->next)
		n += is_whole(session) && session->spare->is_ready;
	return n;
}

static struct session *spare_find(struct jaild *jaild, bool is_with_cell)
{
	for (struct session *session = jaild->sessions; session; session = session->next) {
		if (session->is_spare && !session->is_closing &&
			(session->spare != NULL) == is_with_cell)
			return session;
	}
	return NULL;
}

static void on_due(struct timer *timer);

static bool is_room(const struct jaild *jaild)
{
	return jaild->spares.n < jaild->spares.wanted &&
	       jaild->n_sessions + jaild->spares.n < jaild->sessions_max;
}

static void build_in(struct jaild *jaild, usec_t delay_us)
{
	if (is_room(jaild) || spare_find(jaild, false))
		loop_timer_set(&jaild->loop, &jaild->spares.timer, delay_us, on_due);
}

void spares_later(struct jaild *jaild)
{
	/* one that waits out a failure goes on waiting */
	if (jaild->spares.timer.due_us < clock_now_us() + STEP_DELAY_US)
		build_in(jaild, STEP_DELAY_US);
}

/* One step: the cell of a session that has none, else the next session. */
static void on_due(struct timer *timer)
{
	struct jaild *jaild = container_of(timer, struct jaild, spares.timer);
	struct session *session = spare_find(jaild, false);
	struct failure failure = { 0 };
	bool is_good;

	if (session)
		is_good = cell_spare_make(session, &failure);
	else if (is_room(jaild))
		is_good = session_make(jaild, &jaild->spares.limits, &failure) != NULL;
	else
		return;
	if (is_good) {
		build_in(jaild, STEP_DELAY_US);
		return;
	}
	log_error("msg=\"no spare session\" stage=%s error=%d",
		LOG_VALUE(stage_name(failure.stage)), failure.error);
	if (session)
		spares_lose(session);
	else
		jaild->spares.lost++;
	build_in(jaild, RETRY_US);
}

struct session *spares_take(struct jaild *jaild, const struct wire_limits *limits)
{
	struct spares *spares = &jaild->spares;

	if (spares->wanted == 0)
		return NULL;
	for (struct session *session = jaild->sessions; session; session = session->next) {
		if (!is_whole(session) || !cell_is_alive(session->spare) ||
			memcmp(&session->limits, limits, sizeof(*limits)) != 0)
			continue;
		session->is_spare = false;
		spares->n--;
		spares->taken++;
		jaild->n_sessions++;
		cell_spare_expire(session);
		return session;
	}
	spares->missed++;
	return NULL;
}

void spares_lose(struct session *session)
{
	struct jaild *jaild = session->jaild;

	jaild->spares.lost++;
	session_free(session);
	build_in(jaild, RETRY_US);
}

void spares_make_room(struct jaild *jaild)
{
	struct session *session = spare_find(jaild, true);

	if (session && jaild->n_sessions + jaild->spares.n >= jaild->sessions_max)
		session_close(session, &(struct reply){ 0 });
}

void spares_keep(struct jaild *jaild, unsigned wanted, const struct wire_limits *limits)
{
	struct spares *spares = &jaild->spares;
	bool is_other = memcmp(&spares->limits, limits, sizeof(*limits)) != 0;
	struct session *next;
	unsigned kept = 0;

	spares->wanted = wanted;
	spares->limits = *limits;
	for (struct session *session = jaild->sessions; session; session = next) {
		next = session->next;
		if (!session->is_spare || session->is_closing)
			continue;
		if (is_other || kept == wanted)
			session_close(session, &(struct reply){ 0 });
		else
			kept++;
	}
	loop_timer_clear(&jaild->loop, &spares->timer);
	build_in(jaild, STEP_DELAY_US);
}
