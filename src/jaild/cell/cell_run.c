#include "jaild/cell/cell.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/macro.h"
#include "jaild/cell/cell_build.h"

#include <poll.h>
#include <stdlib.h>

/*
 * Where a run gets its cell from. A session that has just run something is likely to run something
 * again: its next cell is built a moment after the answer has left, and waits, with init in it and
 * nothing else, until the run comes or SPARE_IDLE_US have passed. A spare has never seen a script,
 * so it is as fresh as one made on demand; the memory limit is set when the run comes (decision 2).
 */

/* From the clone to the interpreter's exec: a busy machine takes long, a broken one forever. */
#define START_LIMIT_US (20 * 1000 * 1000ULL)
/* Long enough for the answer to be on its way and read. */
#define SPARE_DELAY_US 3000
/* A spare holds a process and five namespaces: not for long without need. */
#define SPARE_IDLE_US (10 * 1000 * 1000ULL)

static struct cell *cell_new(struct session *session)
{
	struct cell *cell = xcalloc(1, sizeof(*cell));

	*cell = (struct cell){ .session = session,
		.pidfd = -1,
		.control_fd = -1,
		.home_fd = -1,
		.run_fds = { -1, -1, -1, -1, -1 },
		.control.fd = -1,
		.death.fd = -1,
		.oom.fd = -1 };
	cgroup_cell_init(&cell->cgroup);
	return cell;
}

void cell_discard(struct cell *cell)
{
	struct jaild *jaild = cell->session->jaild;

	loop_timer_clear(&jaild->loop, &cell->timer);
	loop_unwatch(&jaild->loop, &cell->control);
	loop_unwatch(&jaild->loop, &cell->death);
	loop_unwatch(&jaild->loop, &cell->oom);
	cell_destroy(cell);
	free(cell);
}

static struct cell *cell_begin(struct session *session, bool is_quiet, struct failure *ret_failure)
{
	struct cell *cell = cell_new(session);

	cell->is_quiet = is_quiet;
	if (!cell_build(cell, ret_failure) ||
		failed(ret_failure, STAGE_CELL_CLONE, cell_watch(cell))) {
		cell_discard(cell);
		return NULL;
	}
	return cell;
}

/* The kernel likes to take a spare when memory is short. */
bool cell_is_alive(const struct cell *cell)
{
	struct pollfd death = { .fd = cell->pidfd, .events = POLLIN };

	return cell->failure.error == 0 && poll(&death, 1, 0) == 0;
}

/* The session's spare, NULL if there is none that a run could use. */
static struct cell *spare_take(struct session *session)
{
	struct cell *cell = session->spare;

	loop_timer_clear(&session->jaild->loop, &session->spare_timer);
	if (!cell || cell->state == CELL_ENDING)
		return NULL;
	session->spare = NULL;
	if (cell_is_alive(cell))
		return cell;
	cell_discard(cell);
	return NULL;
}

static bool is_cold(const struct session *session, const struct run_request *request)
{
	return request->is_live || request->warm == WIRE_WARM_NONE ||
	       session->jaild->nursery.max_runs == 0;
}

struct cell *cell_take(
	struct session *session, const struct run_request *request, struct failure *ret_failure)
{
	struct cell *cell = spare_take(session);

	if (!cell)
		cell = cell_begin(session, is_cold(session, request), ret_failure);
	if (!cell)
		return NULL;
	if (!step_failed(ret_failure, STAGE_CELL_LIMIT, live_limit(session, !request->is_live)) &&
		!failed(ret_failure, STAGE_CELL_LIMIT, cell_watch_oom(cell)))
		return cell;
	cell_discard(cell);
	return NULL;
}

void cell_accept(struct cell *cell, struct run_request *request)
{
	struct session *session = cell->session;
	struct jaild *jaild = session->jaild;

	cell->reply = request->reply;
	cell->run = jaild->next_id++;
	cell->wall_ms = request->wall_ms;
	cell->accepted_us = request->accepted_us;
	cell->started_us = 0;
	for (int i = 0; i < WIRE_RUN_FDS; i++)
		cell->run_fds[i] = TAKE_FD(request->fds[i]);
	loop_timer_set(&jaild->loop, &cell->timer, START_LIMIT_US, cell_on_start_limit);
	session->cell = cell;
	jaild->n_cells++;
}

bool cell_run(struct session *session, struct run_request *request, struct failure *ret_failure)
{
	struct cell *cell;

	live_note(session);
	cell = cell_take(session, request, ret_failure);
	if (!cell)
		return false;
	session->warm = request->warm;
	cell_accept(cell, request);
	if (cell->state == CELL_WAITING) {
		cell_build_warm(cell, session->warm);
		cell_start(cell);
	}
	if (cell->failure.error != 0)
		cell_end(cell);
	return true;
}

static void on_spare_idle(struct timer *timer)
{
	cell_spare_drop(container_of(timer, struct session, spare_timer));
}

static void on_spare_due(struct timer *timer)
{
	struct session *session = container_of(timer, struct session, spare_timer);
	struct failure failure = { 0 };

	if (session->is_closing || session->cell || session->fading || session->spare)
		return;
	/* without a spare the next run makes its cell itself, and tells what is wrong */
	if (cell_spare_make(session, &failure))
		cell_spare_expire(session);
}

bool cell_spare_make(struct session *session, struct failure *ret_failure)
{
	session->spare = cell_begin(session, false, ret_failure);
	return session->spare != NULL;
}

void cell_spare_expire(struct session *session)
{
	loop_timer_set(&session->jaild->loop, &session->spare_timer, SPARE_IDLE_US, on_spare_idle);
}

void cell_spare_schedule(struct session *session)
{
	if (!session->is_closing)
		loop_timer_set(
			&session->jaild->loop, &session->spare_timer, SPARE_DELAY_US, on_spare_due);
}

void cell_spare_drop(struct session *session)
{
	loop_timer_clear(&session->jaild->loop, &session->spare_timer);
	if (session->spare)
		cell_end(session->spare);
}
