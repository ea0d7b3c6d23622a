/*
 * Theory of operation, of v1 alone: where memory is short the kernel kills one process of the
 * session, and which one it does not say; v2 kills the session's all. While a fresh run is under
 * way the interpreter's cell stands still, so it has fewer processes than before only if the kernel
 * has taken one. Then it is given up as a whole, and the run goes on with what that frees; every
 * other kill was the run's. The event comes before the kill, so both are looked at again and again
 * for a while. While an interpreter that is given up dies, nobody can tell whom the kernel takes:
 * then it was the run if its script ended by SIGKILL.
 */
#include "jaild/live/live_oom.h"

#include "base/macro.h"
#include "jail/cgroup/cgroup_live.h"
#include "jail/outside/process.h"
#include "jaild/cell/cell.h"
#include "jaild/live/live.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define LOOK_US	 1000
#define LIMIT_US (100 * 1000ULL) /* between the event and the kill, on a busy host too */

static bool is_dying(const struct session *session, pid_t pid)
{
	struct process process;
	int r = process_read(session->jaild->proc_fd, pid, &process);

	return r == -EBADMSG ? false : r < 0 || process_is_dying(&process);
}

static uint64_t living(const struct session *session)
{
	pid_t pids[CGROUP_CELL_PIDS_MAX];
	size_t n = 0;
	uint64_t alive = 0;

	if (cgroup_cell_processes(&session->live.cell->cgroup, pids, &n) < 0)
		return session->live.n_processes;
	for (size_t i = 0; i < n; i++)
		alive += !is_dying(session, pids[i]);
	return alive;
}

/* Counts the kills since the run began, and the processes that the interpreter's cell has lost. */
static void count(struct session *session, uint64_t *ret_kills, uint64_t *ret_lost)
{
	uint64_t before = session->live.n_processes;

	(void)cgroup_session_kills(&session->jaild->cgroups, &session->cgroup, ret_kills);
	*ret_lost = before - MIN(living(session), before);
}

/* The kills were not the run's. */
static void give_up(struct session *session, uint64_t kills)
{
	struct live *live = &session->live;

	session->cgroup.oom_kills_at_start += kills;
	live->oom_until_us = 0;
	live_lose(session, WIRE_LOST_MEMORY);
}

static void on_look(struct timer *timer);

static void look(struct session *session)
{
	struct live *live = &session->live;
	uint64_t kills, lost;

	count(session, &kills, &lost);
	if (kills > 0 && lost >= kills) {
		give_up(session, kills);
	} else if (clock_now_us() < live->oom_until_us) {
		loop_timer_set(&session->jaild->loop, &live->cell->timer, LOOK_US, on_look);
	} else {
		live->oom_until_us = 0;
		if (lost > 0)
			give_up(session, MIN(lost, kills));
		if (kills > lost)
			cell_out_of_memory(session->cell);
	}
}

static void on_look(struct timer *timer)
{
	look(container_of(timer, struct cell, timer)->session);
}

bool live_oom_heed(struct session *session)
{
	struct live *live = &session->live;

	if (!live->cell || live->cell == session->cell || live->n_processes == 0)
		return false;
	cgroup_session_event_clear(&session->cgroup);
	if (live->cell->state != CELL_FROZEN)
		return true; /* it is being given up: live_oom_settle */
	if (live->oom_until_us == 0)
		live->oom_until_us = clock_now_us() + LIMIT_US;
	look(session);
	return true;
}

void live_oom_settle(struct session *session)
{
	struct live *live = &session->live;
	uint64_t kills, lost;

	if (!live->cell || live->cell == session->cell || live->n_processes == 0)
		return;
	count(session, &kills, &lost);
	if (live->cell->state != CELL_FROZEN) {
		/* What the kernel took while it died was its own, but for the script itself: of
		 * the run's other processes more would have been short again afterwards. */
		session->cgroup.oom_kills_at_start += kills;
		live->is_oom_doubtful = live->is_oom_doubtful || kills > 0;
	} else if (live->oom_until_us != 0) {
		loop_timer_clear(&session->jaild->loop, &live->cell->timer);
		live->oom_until_us = 0;
		if (lost > 0)
			give_up(session, MIN(lost, kills));
	}
	live->n_processes = 0;
}

bool live_oom_took_script(const struct cell *cell)
{
	/* by SIGKILL, which is not ours: that is for init */
	return cell->session->live.is_oom_doubtful && cell->has_exit &&
	       cell->end == WIRE_END_EXIT && WIFSIGNALED(cell->exit.status) &&
	       WTERMSIG(cell->exit.status) == SIGKILL;
}

void live_oom_begin(struct session *session)
{
	struct live *live = &session->live;

	live->oom_until_us = 0;
	live->is_oom_doubtful = false;
	live->n_processes = 0;
	if (live->cell && session->cgroup.oom_fd >= 0)
		live->n_processes = living(session);
}
