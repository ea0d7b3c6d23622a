#include "init/maker.h"

#include "jail/inside/filter_map.h"
#include "jail/inside/groups.h"
#include "jail/inside/identity.h"
#include "jail/inside/landlock.h"
#include "jail/inside/resources.h"
#include "jail/inside/wall.h"
#include "jail/plan/plan.h"
#include "wire/channel.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Theory of operation. The maker lives in the template's mount namespace and has one capability in
 * jaild's user namespace, SYS_ADMIN, for the namespaces of sessions. It is a process of its
 * own so that what is copied for each cell is small, and copied by a plain fork: a copy that shared
 * its memory would take it along when the kernel kills it for memory.
 *
 * The copy is jaild's child, not ours (CLONE_PARENT): jaild watches it and waits for it. It owns
 * its user namespace's rights from birth; ids come with the maps that jaild writes, so it waits for
 * its plan before it is anybody.
 *
 * /proc/PID of the copy is jaild's to write, and the copy is jaild's to enter for making its /proc,
 * as long as it is dumpable, so it is born so (init/cell.c goes on with this). We are not.
 */

/* Network and IPC are the session's. */
#define CELL_NAMESPACES                                                                            \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWCGROUP)

_Static_assert(sizeof(MAKER_NAME) == sizeof(INIT_NAME), "one is written over the other");

/* Of init/bare, which builds for a sanitizer do without. */
__attribute__((weak)) void bare_canary_renew(void);

bool maker_is_planned(const void *message, size_t size, size_t n_fds)
{
	const struct maker_plan *plan = message;

	return size == sizeof(*plan) && plan->magic == MAKER_MAGIC && n_fds == MAKER_PLAN_FDS;
}

static bool is_order(const struct maker_order *order, size_t size, size_t n_fds)
{
	return size == sizeof(*order) && order->magic == MAKER_MAGIC &&
	       order->n_tasks <= MAKER_TASKS_MAX && order->has_leaf <= 1 &&
	       n_fds == MAKER_FD_GROUPS + order->has_leaf + order->n_tasks;
}

/* All but what the cell begins with. */
static int descriptors_close(void)
{
	if (close_range(INIT_CONTROL_FD + 1, LANDLOCK_HELD_FD - 1, 0) < 0 ||
		close_range(LANDLOCK_HELD_FD + LANDLOCK_HELD, ~0U, 0) < 0)
		return -errno;
	return 0;
}

/* As if it had been executed: ps shows the first word, /proc/PID/comm the other. */
static int name_set(char *name)
{
	if (strlen(name) == sizeof(INIT_NAME) - 1)
		memcpy(name, INIT_NAME, sizeof(INIT_NAME));
	return prctl(PR_SET_NAME, INIT_NAME, 0, 0, 0) < 0 ? -errno : 0;
}

/* In the cell. A failure is told to jaild over the cell's socket. A test makes this stage fail in
 * jaild, before there is a cell, so these have no place of their own for one. Does not return, so
 * that no canary of before the change is checked after it. */
__attribute__((noreturn)) static void cell_become(
	const struct maker_order *order, const int *fds, const struct cell *cell)
{
	if (dup2(fds[MAKER_FD_CONTROL], INIT_CONTROL_FD) < 0)
		_exit(1); /* jaild sees the socket hang up */
	/* still with jaild's ids, before it does anything else */
	wall_check(STAGE_CELL_CLONE,
		groups_enter(fds + MAKER_FD_GROUPS + order->has_leaf, order->n_tasks));
	wall_check(STAGE_CELL_CLONE, descriptors_close());
	wall_check(STAGE_CELL_CLONE, identity_limit_capabilities());
	wall_check(STAGE_CELL_CLONE, name_set(cell->name));
	if (bare_canary_renew)
		bare_canary_renew();
	cell->run();
	_exit(1);
}

static long cell_clone(const struct maker_order *order, const int *fds)
{
	/* without a signal: as our own parent's other child it has that of ours */
	struct clone_args args = { .flags = CELL_NAMESPACES | CLONE_PARENT };
	long pid;
	int error;

	if (order->has_leaf) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned)fds[MAKER_FD_GROUPS];
	}
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return -errno;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	error = errno;
	if (pid == 0)
		return 0;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		_exit(1);
	return pid < 0 ? -error : pid;
}

/* Whether the IPC namespace that we are in is as it was made. All of its processes are dead, so
 * what is in it now stays: segments, semaphores and queues of System V (POSIX queues are denied). A
 * kernel without them has none. */
static int ipc_check(void)
{
	struct shm_info segments;
	struct seminfo semaphores;
	struct msginfo queues;

	if (syscall(SYS_shmctl, 0, SHM_INFO, &segments) < 0 ||
		syscall(SYS_semctl, 0, 0, SEM_INFO, &semaphores) < 0 ||
		syscall(SYS_msgctl, 0, MSG_INFO, &queues) < 0)
		return errno == ENOSYS ? 0 : -errno;
	return segments.used_ids > 0 || semaphores.semusz > 0 || queues.msgpool > 0 ? -EUCLEAN : 0;
}

static int namespaces_enter(int network_fd, int ipc_fd)
{
	return setns(network_fd, CLONE_NEWNET) < 0 || setns(ipc_fd, CLONE_NEWIPC) < 0 ? -errno : 0;
}

/* The cell's pid, 0 in the cell, or -errno. */
static long cell_make(const struct maker_order *order, const int *fds, const int *own_fds)
{
	long pid = namespaces_enter(fds[MAKER_FD_NETWORK], fds[MAKER_FD_IPC]);

	if (pid == 0)
		pid = ipc_check();
	if (pid == 0) {
		pid = cell_clone(order, fds);
		if (pid == 0)
			return 0;
	}
	/* Not coming back would hold a session's, and the next cell might be born in them. */
	if (namespaces_enter(own_fds[MAKER_PLAN_NETWORK], own_fds[MAKER_PLAN_IPC]) < 0)
		_exit(1);
	return pid;
}

/* What cells do without, the maker does without as well: installed here once, it costs them
 * nothing. It does not let the limit of core files be set, which is why that one is set before. */
static int filters_take(const struct maker_plan *plan, const int *fds, struct cell *cell)
{
	struct sock_fprog program = { .len = (unsigned short)plan->base_count };
	const struct sock_filter *base;
	int r = filter_map(fds[MAKER_PLAN_BASE], plan->base_count, &base);

	if (r < 0)
		return r;
	program.filter = (struct sock_filter *)(uintptr_t)base;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return -errno;
	/* or each copy had the mapping */
	if (munmap((void *)(uintptr_t)base, plan->base_count * sizeof(*base)) < 0)
		return -errno;
	cell->filter_count = plan->rest_count;
	return filter_read(fds[MAKER_PLAN_REST], plan->rest_count, cell->filter);
}

/* One order. False at the end of them. */
static bool serve(const int *own_fds, const struct cell *cell)
{
	struct maker_answer answer = { .magic = MAKER_MAGIC };
	struct maker_order order;
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;
	ssize_t n = channel_receive(INIT_CONTROL_FD, &order, sizeof(order), fds, &n_fds);
	long pid;

	if (n <= 0 || !is_order(&order, (size_t)n, n_fds))
		return false;
	pid = cell_make(&order, fds, own_fds);
	if (pid == 0)
		cell_become(&order, fds, cell);
	channel_close_fds(fds, CHANNEL_FDS_MAX);
	answer.pid = (int32_t)pid;
	return channel_send(INIT_CONTROL_FD, &answer, sizeof(answer), NULL, 0) == 0;
}

void maker_become(const struct maker_plan *plan, int *fds, struct cell *cell)
{
	if (plan->base_count > PLAN_FILTER_MAX || plan->rest_count == 0 ||
		plan->rest_count > MAKER_REST_MAX || resources_limit_core() < 0 ||
		filters_take(plan, fds, cell) < 0 || landlock_hold() < 0)
		_exit(1); /* jaild sees the socket hang up */
	channel_close_fds(fds + MAKER_PLAN_BASE, MAKER_PLAN_FDS - MAKER_PLAN_BASE);
	while (serve(fds, cell))
		continue;
	_exit(0);
}
