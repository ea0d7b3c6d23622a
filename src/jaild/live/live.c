#include "jaild/live/live.h"

#include "base/fd.h"
#include "base/macro.h"
#include "jail/cgroup/cgroup_live.h"
#include "jail/outside/oom_score.h"
#include "jail/plan/live.h"
#include "jail/plan/plan.h"
#include "jaild/answer.h"
#include "jaild/cell/cell.h"
#include "jaild/cell/cell_build.h"
#include "jaild/cell/turn.h"
#include "jaild/live/live_oom.h"
#include "wire/channel.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/*
 * Theory of operation. A call goes to init, which has the interpreter run it and says when that is
 * over (init/live.c). That word is the script's own and may be forged; nothing is judged by it but
 * what the call is said to have ended with. Before the client hears of it the whole cell is frozen,
 * so that what the pipes hold then is all there will be; the next call brings new ones. A cell that
 * cannot be frozen in time is killed.
 *
 * A call that is out of time is first interrupted, as by Ctrl-C, and goes on to the same end; only
 * when that does not help, it is killed, and the interpreter with it. Whatever ends the
 * interpreter, the reason is kept until it has been told: to the run that saw it, and at the next
 * one's start.
 *
 * Memory (decisions 2 and 37): a call's limit is the profile's with what the home holds on top; a
 * fresh run beside the interpreter has the frozen one's on top as well, its files in memory
 * included. The interpreter's processes are the first that the kernel takes when memory is short
 * all the same.
 */

/* KeyboardInterrupt ends most things at once; a computation inside of a library takes its time. Who
 * cancels a call waits for its end, and for no longer than it takes to see that it is ignored. */
#define INTERRUPT_US	    (2 * 1000 * 1000ULL)
#define INTERRUPT_CANCEL_US (300 * 1000ULL)
/* Init's own bound lies behind ours. */
#define WATCHDOG_GRACE_MS 7000

/* Of a call that is over at once the end tells the start too, which wakes the client once. Only who
 * looks on or cancels would have wanted to know before. */
#define TELL_DELAY_US 10000

/* Until the answer is on its way and read. */
#define NOTE_DELAY_US 3000

/* Processes that wait stand still within some 50 us; one in a system call takes until its end. */
#define FREEZE_SPIN_US	300
#define FREEZE_RETRY_US 1000
#define FREEZE_LIMIT_US (1000 * 1000ULL)

void live_init(struct live *live)
{
	*live = (struct live){ .pidfd = -1, .freeze_fd = -1 };
}

static void lost_set(struct live *live, enum wire_lost lost)
{
	live->lost = lost;
	live->is_lost_told = false;
}

void live_lose(struct session *session, enum wire_lost lost)
{
	lost_set(&session->live, lost);
	cell_end(session->live.cell);
}

/* Of an empty home all files in memory are the cells', whose next call begins with what is read
 * here. */
void live_note(struct session *session)
{
	struct live *live = &session->live;
	struct cgroup_memory memory;
	uint64_t home_bytes;

	if (!live->cell || live->cell->state != CELL_FROZEN || live->is_noted)
		return;
	live->is_noted = true;
	live->own_bytes = live->files_bytes = 0;
	if (cgroup_session_memory(&session->jaild->cgroups, &session->cgroup, &memory) < 0 ||
		home_used(&session->home, &home_bytes) < 0)
		return;
	live->own_bytes = memory.own_bytes;
	live->files_bytes = memory.shmem_bytes - MIN(memory.shmem_bytes, home_bytes);
	session->cgroup.shmem_known_bytes = home_bytes == 0 ? memory.shmem_bytes : CGROUP_UNKNOWN;
}

int live_limit(struct session *session, bool is_beside)
{
	const struct live *live = &session->live;
	struct wire_limits limits = session->limits;
	uint64_t home_bytes;
	int r = home_used(&session->home, &home_bytes);

	if (r < 0)
		return r;
	session->home_at_start_bytes = home_bytes;
	if (is_beside)
		live_oom_begin(session);
	if (is_beside && live->cell)
		limits.memory_bytes +=
			MIN(live->own_bytes + live->files_bytes, session->limits.memory_bytes);
	return cgroup_run_begin(&session->jaild->cgroups, &session->cgroup, &limits, home_bytes);
}

static void on_note(struct timer *timer)
{
	live_note(container_of(timer, struct cell, timer)->session);
}

int live_start(struct cell *cell)
{
	struct jail_run start = { .magic = LIVE_MAGIC };
	int r = oom_score_set(cell->session->jaild->proc_fd, cell->pid, OOM_SCORE_LIVE);

	cell->cgroup.was_killed = true; /* it has been frozen: the leaf serves nobody else */
	return r < 0 ? r : cell_build_send(cell, &start, sizeof(start), NULL, 0);
}

static void on_interrupt_over(struct timer *timer)
{
	cell_end(container_of(timer, struct cell, timer));
}

static void interrupt_send(const struct cell *cell)
{
	(void)syscall(SYS_pidfd_send_signal, cell->session->live.pidfd, SIGINT, NULL, 0);
}

/* Half of the time that the call has to end. */
static usec_t interrupt_half_us(const struct cell *cell)
{
	return (cell->end == WIRE_END_CANCELLED ? INTERRUPT_CANCEL_US : INTERRUPT_US) / 2;
}

/* The first may have come before the code had begun, or to something that has swallowed it. */
static void on_interrupt_again(struct timer *timer)
{
	struct cell *cell = container_of(timer, struct cell, timer);

	interrupt_send(cell);
	loop_timer_set(&cell->session->jaild->loop, &cell->timer, interrupt_half_us(cell),
		on_interrupt_over);
}

bool live_interrupt(struct cell *cell, enum wire_end end)
{
	bool is_first;

	if (cell->state == CELL_FREEZING)
		return true; /* it is over, and answered in a moment */
	if (cell->state != CELL_RUNNING)
		return false;
	interrupt_send(cell);
	is_first = !cell->has_end;
	cell_set_end(cell, end);
	if (is_first) /* else it has been interrupted before: its time goes on */
		loop_timer_set(&cell->session->jaild->loop, &cell->timer, interrupt_half_us(cell),
			on_interrupt_again);
	return true;
}

static void on_wall_limit(struct timer *timer)
{
	(void)live_interrupt(container_of(timer, struct cell, timer), WIRE_END_TIMEOUT);
}

static void on_tell(struct timer *timer)
{
	struct live *live = container_of(timer, struct live, tell);
	union wire_any message = { .run_started = live->started };

	live->has_started = false;
	answer_send(live->cell->session->jaild, &live->cell->reply, &message, WIRE_RUN_STARTED, -1);
}

static void note_started(struct cell *cell, enum wire_interpreter interpreter)
{
	struct live *live = &cell->session->live;

	live->has_started = true;
	live->started = (struct wire_run_started){ .run = cell->run,
		.start_us = cell->started_us - cell->accepted_us,
		.at_us = cell->started_us,
		.interpreter = interpreter };
	if (interpreter == WIRE_INTERPRETER_NEW) {
		live->started.lost = live->lost;
		lost_set(live, WIRE_LOST_NOTHING);
	}
	loop_timer_set(&cell->session->jaild->loop, &live->tell, TELL_DELAY_US, on_tell);
}

/* It lies in init's socket before a cell that stands still is let go on. */
static int call_send(struct cell *cell, bool is_frozen)
{
	struct live_call call = { .magic = LIVE_MAGIC,
		.number = ++cell->session->live.number,
		.watchdog_ms = cell->wall_ms + WATCHDOG_GRACE_MS };
	size_t n_fds = cell->run_fds[WIRE_LIVE_STDIN] >= 0 ? WIRE_RUN_FDS : WIRE_LIVE_STDIN;
	int r = cell_build_send(cell, &call, sizeof(call), cell->run_fds, n_fds);

	if (r == 0 && is_frozen)
		r = cgroup_cell_freeze(&cell->cgroup, &cell->session->live.freeze_fd, false);
	channel_close_fds(cell->run_fds, WIRE_RUN_FDS);
	return r;
}

/* The call goes to the interpreter, and its time begins. A failure is left in the cell. */
static void call_begin(struct cell *cell, enum wire_interpreter interpreter)
{
	bool is_frozen = interpreter == WIRE_INTERPRETER_REUSED;

	if (step_failed(&cell->failure, STAGE_LIVE_CALL, call_send(cell, is_frozen)))
		return;
	cell->state = CELL_RUNNING;
	cell->started_us = clock_now_us();
	loop_timer_set(
		&cell->session->jaild->loop, &cell->timer, cell->wall_ms * 1000, on_wall_limit);
	note_started(cell, interpreter);
}

void live_started(struct cell *cell, int pidfd)
{
	struct live *live = &cell->session->live;

	if (cell->state != CELL_STARTING || pidfd < 0) {
		(void)fd_close(pidfd);
		(void)failed(&cell->failure, STAGE_LIVE_SOCKET, -EPROTO);
		return;
	}
	live->pidfd = pidfd;
	call_begin(cell, WIRE_INTERPRETER_NEW);
}

static bool interpreter_make(
	struct session *session, struct run_request *request, struct failure *ret_failure)
{
	struct cell *cell = cell_take(session, request, ret_failure);

	if (!cell)
		return false;
	cell->is_live = true;
	session->live.cell = cell;
	session->live.number = 0;
	/* it may live beside the session's other cells: the network goes with it, to nobody else */
	network_close(&session->network);
	cell_accept(cell, request);
	if (cell->state == CELL_WAITING)
		cell_start(cell);
	if (cell->failure.error != 0)
		cell_end(cell);
	return true;
}

/* The call begins when the interpreter that there is has died. */
static void wait_for_end(struct session *session, struct run_request *request, enum wire_lost lost)
{
	struct live *live = &session->live;

	turn_wait(session, request);
	if (lost != WIRE_LOST_NOTHING)
		lost_set(live, lost);
	cell_end(live->cell);
}

static void interpreter_use(struct session *session, struct run_request *request)
{
	struct live *live = &session->live;
	struct cell *cell = live->cell;

	if (live_limit(session, false) < 0 || cell_watch_oom(cell) < 0) {
		/* what it holds is above what it may: v1 says so here, v2 kills */
		wait_for_end(session, request, WIRE_LOST_MEMORY);
		return;
	}
	cell_accept(cell, request);
	call_begin(cell, WIRE_INTERPRETER_REUSED);
	if (cell->failure.error != 0)
		cell_end(cell);
}

bool live_is_ending(const struct session *session)
{
	return session->live.cell && session->live.cell->state != CELL_FROZEN;
}

bool live_call(struct session *session, struct run_request *request, struct failure *ret_failure)
{
	if (failed(ret_failure, STAGE_NONE,
		    session->jaild->cgroups.unified_fd < 0 ? -EOPNOTSUPP : 0) ||
		failed(ret_failure, STAGE_NONE, request->flags > WIRE_LIVE_RESET ? -EINVAL : 0))
		return false;
	if (!session->live.cell)
		return interpreter_make(session, request, ret_failure);
	if (request->flags & WIRE_LIVE_RESET)
		wait_for_end(session, request, WIRE_LOST_REQUEST);
	else if (live_is_ending(session))
		wait_for_end(session, request, WIRE_LOST_NOTHING);
	else
		interpreter_use(session, request);
	return true;
}

/* What one call has used: by the leaf's counters since the end of the one before. */
static void usage_take(struct cell *cell, struct cgroup_usage *ret_usage)
{
	struct session *session = cell->session;

	cgroup_run_end(&session->jaild->cgroups, &session->cgroup, &cell->cgroup, ret_usage);
}

/* All stands still: the client is told, and the cell waits for the next call. What only a later run
 * needs to know is read in a moment: the client is most likely to go on where we are. */
static void call_end(struct cell *cell)
{
	struct session *session = cell->session;
	struct jaild *jaild = session->jaild;
	struct live *live = &session->live;
	struct cgroup_usage usage;

	usage_take(cell, &usage);
	if (usage.is_out_of_memory) { /* v1: one process of several; nobody knows which */
		cell_set_end(cell, WIRE_END_MEMORY);
		cell_end(cell);
		return;
	}
	cell->state = CELL_FROZEN;
	session->cell = NULL;
	jaild->n_cells--;
	cell_answer_ended(cell, &usage);
	live->is_noted = false;
	loop_timer_set(&jaild->loop, &cell->timer, NOTE_DELAY_US, on_note);
	loop_unwatch(&jaild->loop, &cell->oom);
	cell->has_end = cell->has_exit = false;
	cell->run = 0;
}

static void on_freeze_retry(struct timer *timer);

/* Waits as long as most cells need, once for each call; whoever takes longer holds nobody else up.
 * Returns as cgroup_cell_is_frozen. */
static int freeze_await(struct cgroup_cell *cgroup)
{
	usec_t until_us = clock_now_us() + FREEZE_SPIN_US;
	int r = cgroup_cell_is_frozen(cgroup);

	while (r == 0 && clock_now_us() < until_us) {
		(void)sched_yield();
		r = cgroup_cell_is_frozen(cgroup);
	}
	return r;
}

static void freeze_judge(struct cell *cell, int is_frozen)
{
	struct jaild *jaild = cell->session->jaild;

	if (is_frozen == 1)
		call_end(cell);
	else if (is_frozen < 0 || clock_now_us() >= cell->session->live.freeze_until_us)
		cell_end(cell);
	else
		loop_timer_set(&jaild->loop, &cell->timer, FREEZE_RETRY_US, on_freeze_retry);
}

static void on_freeze_retry(struct timer *timer)
{
	struct cell *cell = container_of(timer, struct cell, timer);

	freeze_judge(cell, cgroup_cell_is_frozen(&cell->cgroup));
}

void live_done(struct cell *cell, int status)
{
	struct live *live = &cell->session->live;

	if (cell->state != CELL_RUNNING)
		return;
	cell->exit =
		(struct init_event){ .kind = INIT_DONE, .status = W_EXITCODE(status & 255, 0) };
	cell->has_exit = true;
	cell_set_end(cell, WIRE_END_EXIT);
	cell->state = CELL_FREEZING;
	loop_timer_clear(&cell->session->jaild->loop, &cell->timer);
	live->freeze_until_us = clock_now_us() + FREEZE_LIMIT_US;
	if (cgroup_cell_freeze(&cell->cgroup, &live->freeze_fd, true) < 0)
		cell_end(cell);
	else
		freeze_judge(cell, freeze_await(&cell->cgroup));
}

static enum wire_lost lost_by(enum wire_end end)
{
	switch (end) {
	case WIRE_END_TIMEOUT:
		return WIRE_LOST_TIMEOUT;
	case WIRE_END_MEMORY:
		return WIRE_LOST_MEMORY;
	case WIRE_END_CANCELLED:
		return WIRE_LOST_CANCELLED;
	case WIRE_END_EXIT:
	case WIRE_END_SIGNAL:
	case WIRE_END_MAX:
		break;
	}
	return WIRE_LOST_CRASH;
}

/* The end of a call that took the interpreter with it. */
static void call_lose(struct cell *cell)
{
	struct session *session = cell->session;
	struct live *live = &session->live;
	struct cgroup_usage usage;

	session->cell = NULL;
	session->jaild->n_cells--;
	usage_take(cell, &usage);
	if (cell->started_us == 0) {
		if (live->number > 0)
			lost_set(live, WIRE_LOST_CRASH); /* it did not take another call */
		answer_failed(session->jaild, &cell->reply, &cell->failure);
		return;
	}
	lost_set(live, lost_by(cell_end_decide(cell, &usage)));
	cell_answer_ended(cell, &usage);
}

/* It stood still, or was about to. The kernel kills what does, for memory; else something of it has
 * ended it between its last word and the frost. */
static enum wire_lost lost_at_rest(const struct session *session)
{
	uint64_t kills;

	return cgroup_session_kills(&session->jaild->cgroups, &session->cgroup, &kills) == 0 &&
			       kills > 0
		       ? WIRE_LOST_MEMORY
		       : WIRE_LOST_CRASH;
}

void live_finish(struct cell *cell)
{
	struct live *live = &cell->session->live;

	live_oom_settle(cell->session);
	if (cell->session->cell == cell)
		call_lose(cell);
	else if (live->lost == WIRE_LOST_NOTHING)
		lost_set(live, lost_at_rest(cell->session));
	live->pidfd = fd_close(live->pidfd);
	live->freeze_fd = fd_close(live->freeze_fd);
	live->cell = NULL;
}

void live_end(struct session *session)
{
	if (session->live.cell)
		cell_end(session->live.cell);
}

void live_tell(const struct cell *cell, struct wire_run_ended *ended)
{
	struct live *live = &cell->session->live;

	ended->lost = live->is_lost_told ? WIRE_LOST_NOTHING : live->lost;
	live->is_lost_told = true;
	if (!cell->is_live || !live->has_started)
		return;
	live->has_started = false;
	loop_timer_clear(&cell->session->jaild->loop, &live->tell);
	ended->interpreter = live->started.interpreter;
	ended->lost_before = live->started.lost;
	ended->start_us = live->started.start_us;
	ended->at_us = live->started.at_us;
}
