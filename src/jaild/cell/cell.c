#include "jaild/cell/cell.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "jaild/answer.h"
#include "jaild/cell/cell_build.h"
#include "jaild/live/live_oom.h"
#include "jaild/spares/walk.h"
#include "wire/channel.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/*
 * Theory of operation. A run ends by one of: the script's exit, the wall limit, the kernel's
 * out-of-memory killer, a cancel, or init's own death. Whatever comes first is the reason. Init
 * says that the script has exited and ends itself; nobody listens for that word while the script
 * runs: it is read when init is dead, so that the end wakes jaild once. In the other cases init is
 * killed through its pidfd and its group through cgroup.kill. Only when init has been waited for
 * (the kernel reaps a whole pid namespace before its process 1 becomes waitable) and the group says
 * that it is empty, the group is removed and the client is told. "Out of memory" is decided last,
 * by the kernel's counter, since it can be behind a plain exit.
 */

/* While the group of a dead init is not yet empty: mostly a matter of microseconds, so soon, then
 * ever more rarely. */
#define END_RETRY_US	 1000
#define END_RETRY_MAX_US (100 * 1000ULL)
/* With init the kernel has ended all that the script was. Who is in its group for longer than this
 * was put there by somebody on the host; the client need not wait for that. */
#define END_LIMIT_US (5 * 1000 * 1000ULL)

/* While init is killed and not yet dead: as a rule it takes some milliseconds. */
#define DEATH_RETRY_US 50000

void cell_set_end(struct cell *cell, enum wire_end end)
{
	if (cell->has_end)
		return;
	cell->has_end = true;
	cell->end = end;
	cell->ended_us = clock_now_us();
}

enum wire_end cell_end_decide(const struct cell *cell, const struct cgroup_usage *usage)
{
	enum wire_end end = cell->has_end ? cell->end : WIRE_END_SIGNAL;

	if (usage->is_out_of_memory && end != WIRE_END_CANCELLED)
		return WIRE_END_MEMORY;
	if (end == WIRE_END_EXIT && cell->has_exit && WIFSIGNALED(cell->exit.status))
		return WIRE_END_SIGNAL;
	return end;
}

void cell_exited(struct cell *cell, const struct init_event *event)
{
	cell->exit = *event;
	cell->has_exit = true;
	if (cell->has_end)
		return;
	cell_set_end(cell, WIRE_END_EXIT);
	if (!cell->is_live && event->ended_us < cell->ended_us)
		cell->ended_us = MAX(event->ended_us, cell->started_us);
}

/* Exit status or signal. */
static int code_of(const struct cell *cell, enum wire_end end)
{
	int status = cell->exit.status;

	if (end == WIRE_END_EXIT)
		return WEXITSTATUS(status);
	if (cell->state == CELL_FROZEN)
		return SIGINT; /* it was interrupted, and that was enough */
	return cell->has_exit && cell->end == WIRE_END_EXIT && WIFSIGNALED(status)
		       ? WTERMSIG(status)
		       : SIGKILL;
}

/* What the session's group held before a run: it is none of the run's. */
static uint64_t held_before(const struct cell *cell)
{
	const struct session *session = cell->session;
	bool is_beside = session->live.cell && !cell->is_live;

	return session->cgroup.shmem_at_start_bytes + (is_beside ? session->live.own_bytes : 0);
}

void cell_answer_ended(struct cell *cell, const struct cgroup_usage *usage)
{
	struct session *session = cell->session;
	union wire_any message = { 0 };
	struct wire_run_ended *ended = &message.run_ended;
	enum wire_end end = cell_end_decide(cell, usage);

	ended->run = cell->run;
	ended->wall_us = cell->ended_us - cell->started_us;
	ended->cpu_us = usage->has_cpu ? usage->cpu_us : cell->exit.cpu_us;
	ended->advice = usage->is_out_of_pids ? WIRE_ADVICE_PIDS : 0;
	if (usage->has_peak) {
		uint64_t before = held_before(cell);

		ended->memory_peak_bytes =
			usage->memory_peak_bytes > before ? usage->memory_peak_bytes - before : 0;
	} else {
		ended->memory_peak_bytes = cell->exit.max_rss_bytes;
		ended->memory_peak_is_rss = 1;
	}
	ended->end = end;
	ended->code = code_of(cell, end);
	ended->is_kept = cell->state == CELL_FROZEN;
	ended->is_home_empty = walk_home_is_empty(session);
	live_tell(cell, ended);
	answer_send(session->jaild, &cell->reply, &message, WIRE_RUN_ENDED, -1);
}

/* Nothing of the cell lives any more: answer, and forget it. */
static void cell_finish(struct cell *cell)
{
	struct session *session = cell->session;
	struct jaild *jaild = session->jaild;
	struct cgroup_usage usage;

	loop_timer_clear(&jaild->loop, &cell->timer);
	if (session->spare == cell) {
		session->spare = NULL;
	} else if (session->fading == cell) {
		cell_faded(cell);
	} else if (cell->is_live) {
		live_finish(cell);
	} else {
		session->cell = NULL;
		jaild->n_cells--;
		live_oom_settle(session);
		cgroup_run_end(&jaild->cgroups, &session->cgroup, &cell->cgroup, &usage);
		usage.is_out_of_memory |= live_oom_took_script(cell);
		if (cell->started_us > 0)
			cell_answer_ended(cell, &usage);
		else
			answer_failed(jaild, &cell->reply, &cell->failure);
		/* a script that was stopped is seldom followed by another at once */
		if (cell->has_exit)
			cell_spare_schedule(session);
	}
	cell_destroy(cell);
	free(cell);
	turn_go_on(session);
	session_settle(session);
}

static void on_retry(struct timer *timer)
{
	cell_end(container_of(timer, struct cell, timer));
}

/* Looks again in a moment. False when it has been long enough. */
static bool end_retry(struct cell *cell)
{
	if (clock_now_us() - cell->dead_us >= END_LIMIT_US) {
		log_warning("msg=\"a dead cell's group does not become empty; the launcher removes "
			    "it at its end\" session=%u cell=%u",
			cell->cgroup.session, cell->cgroup.number);
		return false;
	}
	cell->retry_us =
		cell->retry_us > 0 ? MIN(2 * cell->retry_us, END_RETRY_MAX_US) : END_RETRY_US;
	loop_timer_set(&cell->session->jaild->loop, &cell->timer, cell->retry_us, on_retry);
	return true;
}

void cell_end(struct cell *cell)
{
	struct jaild *jaild = cell->session->jaild;
	int is_empty;

	if (cell->state != CELL_ENDING) {
		cell->state = CELL_ENDING;
		loop_timer_clear(&jaild->loop, &cell->timer);
		loop_unwatch(&jaild->loop, &cell->oom);
		if (!cell->is_dead)
			(void)syscall(SYS_pidfd_send_signal, cell->pidfd, SIGKILL, NULL, 0);
	}
	/* init is about to end by itself, and all there is with it; late as below */
	if (cell->has_exit && !cell->is_live && !cell->is_dead) {
		nursery_reap(jaild);
		loop_timer_set(&jaild->loop, &cell->timer, DEATH_RETRY_US, on_retry);
		return;
	}
	is_empty = cgroup_cell_is_empty(&jaild->cgroups, &cell->cgroup);
	if (is_empty == 0)
		(void)cgroup_cell_kill(&jaild->cgroups, &cell->cgroup);
	if (!cell->is_dead) {
		/* its pidfd will call; late only if a helper of a zygote lies in its namespace */
		nursery_reap(jaild);
		loop_timer_set(&jaild->loop, &cell->timer, DEATH_RETRY_US, on_retry);
		return;
	}
	cell->is_empty = is_empty > 0;
	if (is_empty != 0 || !end_retry(cell))
		cell_finish(cell);
}

/* init has its ids: an interpreter may come, and the run if there is one already. */
static void cell_go_on(struct cell *cell)
{
	if (cell->state != CELL_BORN || cell->is_dead)
		return;
	cell->state = CELL_WAITING;
	cell_build_warm(cell, cell->session->warm);
	if (cell == cell->session->cell)
		cell_start(cell);
}

void cell_start(struct cell *cell)
{
	int r = cell->is_live ? live_start(cell) : cell_build_run(cell);

	if (!failed(&cell->failure, STAGE_CELL_PLAN, r))
		cell->state = CELL_STARTING;
}

void cell_on_start_limit(struct timer *timer)
{
	struct cell *cell = container_of(timer, struct cell, timer);

	(void)failed(&cell->failure, STAGE_SCRIPT_EXEC, -ETIMEDOUT);
	cell_end(cell);
}

static void on_wall_limit(struct timer *timer);

static void script_started(struct cell *cell, const struct init_event *event)
{
	struct jaild *jaild = cell->session->jaild;
	union wire_any message = { 0 };

	if (cell->state != CELL_STARTING)
		return;
	cell->state = CELL_RUNNING;
	cell->started_us = clock_now_us();
	/* what it says next is read when it is dead, or when something else is to end the run */
	loop_unwatch(&jaild->loop, &cell->control);
	cell_build_count(cell, event->status != 0);
	loop_timer_set(&jaild->loop, &cell->timer, cell->wall_ms * 1000, on_wall_limit);
	message.run_started.run = cell->run;
	message.run_started.start_us = cell->started_us - cell->accepted_us;
	message.run_started.at_us = cell->started_us;
	answer_send(jaild, &cell->reply, &message, WIRE_RUN_STARTED, -1);
	if (event->status != 0) {
		cell->script_within = event->pid;
		cell_know_script(cell);
	}
}

/* One word of init's. Init is ours, but its words are checked all the same. */
static void init_said(struct cell *cell, const struct init_event *event, int *fd)
{
	switch (event->kind) {
	case INIT_BORN:
		cell_go_on(cell);
		break;
	case INIT_READY:
		cell->is_ready = true;
		break;
	case INIT_STARTED:
		if (cell->is_live)
			live_started(cell, TAKE_FD(*fd));
		else
			script_started(cell, event);
		break;
	case INIT_DONE:
		if (cell->is_live)
			live_done(cell, event->status);
		break;
	case INIT_EXITED:
		cell_exited(cell, event);
		break;
	case INIT_FAILED:
		(void)failed(&cell->failure, event->stage < STAGE_MAX ? event->stage : STAGE_NONE,
			event->error > 0 ? -event->error : -EIO);
		break;
	default:
		(void)failed(&cell->failure, STAGE_INIT_READY, -EPROTO);
		break;
	}
}

/* All that init has said so far. False once it has hung up. */
static bool init_listen(struct cell *cell)
{
	struct init_event event;
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;
	ssize_t n;

	while ((n = channel_receive(cell->control_fd, &event, sizeof(event), fds, &n_fds)) > 0) {
		if (n == sizeof(event))
			init_said(cell, &event, &fds[0]);
		channel_close_fds(fds, n_fds);
	}
	return n == -EAGAIN;
}

void cell_heed(struct cell *cell)
{
	if (!cell->is_live && cell->state == CELL_RUNNING)
		(void)init_listen(cell);
}

static void on_wall_limit(struct timer *timer)
{
	struct cell *cell = container_of(timer, struct cell, timer);

	cell_heed(cell);
	cell_set_end(cell, WIRE_END_TIMEOUT);
	cell_end(cell);
}

/* A live interpreter's call ends otherwise (live.c); this is its own end. */
static bool is_over(const struct cell *cell)
{
	return cell->is_live ? cell->has_exit && cell->exit.kind == INIT_EXITED : cell->has_end;
}

static void on_control(struct watch *watch)
{
	struct cell *cell = container_of(watch, struct cell, control);
	bool is_open = init_listen(cell);

	if (!is_open)
		loop_unwatch(&cell->session->jaild->loop, &cell->control);
	if (!is_open || is_over(cell) || cell->failure.error != 0)
		cell_end(cell);
}

/* The kernel has killed for memory: on v1 perhaps only one process of several. */
static void on_oom(struct watch *watch)
{
	struct cell *cell = container_of(watch, struct cell, oom);

	if (!live_oom_heed(cell->session))
		cell_out_of_memory(cell);
}

void cell_out_of_memory(struct cell *cell)
{
	/* before the script has started it is the building that did not fit */
	(void)failed(&cell->failure, STAGE_CELL_LIMIT, -ENOMEM);
	cell_set_end(cell, WIRE_END_MEMORY);
	cell_end(cell);
}

static void on_death(struct watch *watch)
{
	struct cell *cell = container_of(watch, struct cell, death);
	struct jaild *jaild = cell->session->jaild;
	siginfo_t info;

	if (waitid(P_PIDFD, (id_t)cell->pidfd, &info, WEXITED | WNOHANG) < 0 && errno != ECHILD)
		return;
	cell->is_dead = true;
	cell->dead_us = clock_now_us();
	(void)init_listen(cell); /* its last words may still lie there */
	if (cell->started_us == 0)
		(void)failed(&cell->failure, STAGE_INIT_READY, -ECHILD);
	else if (!cell->has_end)
		cell_set_end(cell, WIRE_END_SIGNAL);
	loop_unwatch(&jaild->loop, &cell->control);
	loop_unwatch(&jaild->loop, &cell->death);
	cell_end(cell);
}

int cell_watch(struct cell *cell)
{
	struct jaild *jaild = cell->session->jaild;
	int r = loop_watch(&jaild->loop, &cell->control, cell->control_fd, on_control);

	return r < 0 ? r : loop_watch(&jaild->loop, &cell->death, cell->pidfd, on_death);
}

int cell_watch_oom(struct cell *cell)
{
	int oom_fd = cell->session->cgroup.oom_fd;

	return oom_fd < 0 ? 0 : loop_watch(&cell->session->jaild->loop, &cell->oom, oom_fd, on_oom);
}

void cell_cancel(struct cell *cell)
{
	if (cell->is_live && live_interrupt(cell, WIRE_END_CANCELLED))
		return;
	cell_heed(cell);
	cell_set_end(cell, WIRE_END_CANCELLED);
	(void)failed(&cell->failure, STAGE_NONE, -ECANCELED);
	cell_end(cell);
}
