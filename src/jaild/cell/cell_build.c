#include "jaild/cell/cell_build.h"

#include "base/fd.h"
#include "base/macro.h"
#include "jail/outside/home.h"
#include "jail/outside/idmap.h"
#include "jail/outside/maker.h"
#include "jail/outside/network.h"
#include "jail/outside/oom_score.h"
#include "jail/outside/procfs.h"
#include "jaild/zygote/zygote.h"
#include "wire/channel.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/*
 * The order: group, the home's clone, the process, which is in its group before it does anything
 * else, the maps, and then the plan, on which init starts to work. Init says when it has its ids:
 * until then no interpreter could enter.
 */

/* How much later than jaild init ends a forgotten cell by itself. */
#define WATCHDOG_GRACE_MS 5000

/* One that is killed is dead in less than a millisecond; jaild waits as many for it at most. */
#define ORPHAN_WAITS 100

/* The first cell's after a rest makes it; the cells behind it find it there. */
static int network_need(struct session *session)
{
	return session->network.fd >= 0 ? 0
					: network_make(session->jaild->proc_fd, &session->network);
}

/* That of the session's cell before, if it can serve again. */
static int group_need(struct cell *cell)
{
	struct session *session = cell->session;
	struct jaild *jaild = session->jaild;

	if (session->has_leaf) {
		session->has_leaf = false;
		cell->cgroup = session->leaf;
		return 0;
	}
	cell->cgroup.session = session->number;
	cell->cgroup.number = ++jaild->next_number;
	return cgroup_cell_make(&jaild->cgroups, &session->limits, &cell->cgroup);
}

/* The maker has ended behind an order: perhaps a copy of it is in the cell's groups, a child of
 * ours whose pid nobody has told. Its socket has hung up, which ends it in any case. */
static void orphan_end(struct cell *cell)
{
	struct jaild *jaild = cell->session->jaild;

	for (int i = 0; i < ORPHAN_WAITS; i++) {
		if (cgroup_cell_is_empty(&jaild->cgroups, &cell->cgroup) != 0)
			break;
		(void)cgroup_cell_kill(&jaild->cgroups, &cell->cgroup);
		(void)poll(NULL, 0, 1);
		nursery_reap(jaild);
	}
	(void)cgroup_cell_remove(&jaild->cgroups, &cell->cgroup);
	cgroup_cell_init(&cell->cgroup);
}

static int init_try(struct cell *cell)
{
	struct jaild *jaild = cell->session->jaild;
	struct maker_cell wanted = { .network = &cell->session->network,
		.cgroups = &jaild->cgroups,
		.cgroup = &cell->cgroup };
	int sockets[2], r;

	r = channel_pair(sockets);
	if (r < 0)
		return r;
	wanted.control_fd = sockets[1];
	r = maker_make(&jaild->maker, &wanted, &cell->pid, &cell->pidfd);
	(void)fd_close(sockets[1]);
	if (r < 0) {
		(void)fd_close(sockets[0]);
		if (r == -EPIPE)
			orphan_end(cell);
		return r;
	}
	cell->control_fd = sockets[0];
	return fd_set_nonblocking(cell->control_fd);
}

/* There is a maker, and it is what its copy is to be. */
static bool maker_prepare(const struct cell *cell, struct failure *failure)
{
	struct jaild *jaild = cell->session->jaild;

	return !step_failed(
		       failure, STAGE_CELL_CLONE, maker_need(&jaild->maker, &jaild->maker_base)) &&
	       !step_failed(failure, STAGE_CELL_OOM_SCORE,
		       maker_score(&jaild->maker, jaild->proc_fd, OOM_SCORE_CELL));
}

/* With a new maker if the one that was there has gone, and in a new network if a run has left
 * something in this one. */
static bool init_make(struct cell *cell, struct failure *failure)
{
	int r;

	if (!maker_prepare(cell, failure))
		return false;
	r = init_try(cell);
	if (r == -EPIPE) {
		if (failed(failure, STAGE_CELL_CGROUP, group_need(cell)) ||
			!maker_prepare(cell, failure))
			return false;
		r = init_try(cell);
	}
	if (r == -EUCLEAN) {
		network_close(&cell->session->network);
		r = network_need(cell->session);
		r = r < 0 ? r : init_try(cell);
	}
	return !failed(failure, STAGE_CELL_CLONE, r);
}

/* As many processors as the profile pays for, another set for each cell in turn. */
static uint64_t cpus_choose(struct jaild *jaild, const struct wire_limits *limits)
{
	unsigned wanted = (unsigned)((limits->cpu_ms_per_s + 999) / 1000);
	unsigned available = (unsigned)__builtin_popcountll(jaild->cpus_allowed);
	uint64_t mask = 0;

	if (wanted >= available)
		return 0;
	for (unsigned taken = 0; taken < wanted;) {
		uint64_t bit = 1ULL << (jaild->next_cpu++ % 64);

		if (jaild->cpus_allowed & bit & ~mask) {
			mask |= bit;
			taken++;
		}
	}
	return mask;
}

/* That the socket is broken is not what went wrong: init has gone (with words of ours unread:
 * ECONNRESET), and its last word, or its death, says why. */
int cell_build_send(
	const struct cell *cell, const void *data, size_t size, const int *fds, size_t n_fds)
{
	int r = channel_send(cell->control_fd, data, size, fds, n_fds);

	return r == -EPIPE || r == -ECONNRESET ? 0 : r;
}

/* Where the cell forbids namespaces from, in turn; one more while too many runs share those that
 * there are. It goes without, just slower. */
static int limits_choose(struct jaild *jaild)
{
	if (jaild->n_limits < MIN(LIMITS_FDS, LIMITS_FDS_PER_RUN * jaild->n_cells) &&
		procfs_limits_make(&jaild->limits_fds[jaild->n_limits]) == 0)
		return jaild->limits_fds[jaild->n_limits++];
	return jaild->limits_fds[jaild->next_limits++ % jaild->n_limits];
}

static int plan_send(struct cell *cell, int proc_fd)
{
	const struct session *session = cell->session;
	struct jaild *jaild = session->jaild;
	struct jail_plan plan = { .magic = PLAN_MAGIC,
		.version = PLAN_VERSION,
		.limits = session->limits,
		.cpus = cpus_choose(jaild, &session->limits),
		.landlock_abi = jaild->landlock_abi,
		.filter_count = jaild->filter_count,
		.is_quiet = cell->is_quiet };
	int fds[PLAN_FDS_MAX] = { [PLAN_FD_HOME] = cell->home_fd,
		[PLAN_FD_PROC_SYS] = limits_choose(jaild),
		[PLAN_FD_FILTER] = jaild->filter_fd,
		[PLAN_FD_PROC] = proc_fd };

#ifdef CLOCHE_FAULT_INJECTION
	plan.stage_to_fail = stage_to_fail;
#endif
	return cell_build_send(cell, &plan, sizeof(plan), fds,
		session->limits.own_proc ? PLAN_FDS_MAX : PLAN_FD_PROC);
}

/* A failure is that of the request; nothing has been told to init yet. */
static bool process_make(struct cell *cell, struct failure *failure)
{
	struct session *session = cell->session;

	return !step_failed(failure, STAGE_CELL_CGROUP, group_need(cell)) &&
	       !step_failed(failure, STAGE_CELL_HOME, home_clone(&session->home, &cell->home_fd)) &&
	       !step_failed(failure, STAGE_CELL_NETWORK, network_need(session)) &&
	       init_make(cell, failure);
}

bool cell_build(struct cell *cell, struct failure *ret_failure)
{
	struct session *session = cell->session;
	struct jaild *jaild = session->jaild;
	AUTO_CLOSE int proc_fd = -1;

	if (!process_make(cell, ret_failure))
		return false;
	if (step_failed(ret_failure, STAGE_CELL_MAPS,
		    idmap_write(jaild->proc_fd, cell->pid, &session->ids)))
		return false;
	if (session->limits.own_proc &&
		step_failed(ret_failure, STAGE_CELL_PROC, procfs_make(cell->pidfd, &proc_fd)))
		return false;
	if (step_failed(ret_failure, STAGE_CELL_PLAN, plan_send(cell, proc_fd)))
		return false;
	cell->home_fd = fd_close(cell->home_fd);
	if (cell->is_quiet)
		cell->state = CELL_WAITING;
	return true;
}

/* What an interpreter cannot change any more once it has started must be as the cell wants it. */
static bool is_for_zygotes(const struct wire_limits *limits)
{
	return limits->cpu_ms_per_s <= ZYGOTE_CPU_MS_PER_S &&
	       limits->stack_bytes == ZYGOTE_STACK_BYTES &&
	       limits->processes >= ZYGOTE_PROCESSES_MIN && !limits->own_proc;
}

static int warm_send(struct cell *cell, enum zygote_kind kind)
{
	struct jail_run word = { .magic = PLAN_MAGIC, .word = JAIL_WARM };
	struct zygote_cell place = { .pidfd = cell->pidfd, .cgroup = &cell->cgroup };
	int sockets[2];
	int r = channel_pair(sockets);

	if (r < 0)
		return r;
	place.socket = sockets[1];
	r = zygote_ask(cell->session->jaild, kind, &place);
	if (r == 0)
		r = cell_build_send(cell, &word, sizeof(word), &sockets[0], 1);
	channel_close_fds(sockets, 2);
	return r;
}

void cell_build_warm(struct cell *cell, enum wire_warm kind)
{
	if (kind == WIRE_WARM_NONE || kind == cell->warm || !is_for_zygotes(&cell->session->limits))
		return;
	if (warm_send(cell, kind == WIRE_WARM_DATA ? ZYGOTE_DATA : ZYGOTE_SMALL) == 0)
		cell->warm = kind;
}

void cell_build_count(const struct cell *cell, bool is_copy)
{
	const struct session *session = cell->session;

	if (session->warm != WIRE_WARM_NONE && is_for_zygotes(&session->limits))
		nursery_count(session->jaild,
			session->warm == WIRE_WARM_DATA ? ZYGOTE_DATA : ZYGOTE_SMALL, is_copy);
}

int cell_build_run(struct cell *cell)
{
	struct jail_run run = { .magic = PLAN_MAGIC,
		.word = JAIL_RUN,
		.is_cold = cell->session->warm == WIRE_WARM_NONE,
		.watchdog_ms = cell->wall_ms + WATCHDOG_GRACE_MS };
	int r = cell_build_send(cell, &run, sizeof(run), cell->run_fds, WIRE_RUN_FDS);

	channel_close_fds(cell->run_fds, WIRE_RUN_FDS);
	return r;
}

/* The group, to the session's next cell or to nobody. */
static void group_give(struct cell *cell)
{
	struct session *session = cell->session;

	if (cell->is_empty && !cell->cgroup.was_killed && !session->has_leaf) {
		session->leaf = cell->cgroup;
		session->has_leaf = true;
	} else {
		(void)cgroup_cell_remove(&session->jaild->cgroups, &cell->cgroup);
	}
}

void cell_rest(struct session *session)
{
	if (session->cell || session->fading || session->spare || session->spare_timer.due_us != 0)
		return;
	nursery_reap(session->jaild); /* the last orphan, if its group was empty a moment before */
	network_close(&session->network);
	cgroup_session_rest(&session->cgroup);
	if (session->has_leaf)
		(void)cgroup_cell_remove(&session->jaild->cgroups, &session->leaf);
	session->has_leaf = false;
}

void cell_destroy(struct cell *cell)
{
	cell->home_fd = fd_close(cell->home_fd);
	channel_close_fds(cell->run_fds, WIRE_RUN_FDS);
	cell->control_fd = fd_close(cell->control_fd);
	if (cell->pidfd >= 0 && !cell->is_dead)
		nursery_end_init(cell->session->jaild, cell->pidfd);
	cell->pidfd = fd_close(cell->pidfd);
	group_give(cell);
	cell_rest(cell->session);
}
