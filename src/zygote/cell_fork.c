#include "zygote/cell_fork.h"

#include "base/fd.h"
#include "jail/inside/groups.h"
#include "jail/inside/wall.h"
#include "jail/plan/plan.h"

#include <errno.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Theory of operation. A process cannot enter a pid namespace, only be born in it, and joining
 * a user namespace is for good; so a helper joins the cell (one setns with init's pidfd: owning
 * the cell's user namespace is all the right it takes) and has a child there. That child has the
 * copy for a child and ends, which makes init the copy's parent: whoever waits for a script is the
 * same in both kinds of start, and the kernel ends the namespace without anybody's help.
 *
 *     zygote --vfork--> helper: setns --vfork--> stem, in the cell --clone--> copy: groups
 *
 * helper and stem share the zygote's memory, which stops until they have ended, and return from
 * nothing; the copy has memory of its own and returns through all three functions.
 *
 * A raw clone knows nothing of libc: what fork(2) would have set anew in the copy (thread id, list
 * of robust mutexes, rseq) is done here; pthread_atfork handlers do not run (decision 33).
 */

/* What the helpers leave in the shared memory. */
struct trail {
	unsigned stage;
	int error;
};

static int failed(volatile struct trail *trail, enum stage stage, int r)
{
	if (stage_fails(stage))
		r = -EIO;
	if (r < 0) {
		trail->stage = stage;
		trail->error = -r;
	}
	return r < 0;
}

/* What libc keeps with the kernel for this thread. */
struct registered {
	void *tid_place;
	void *robust_list;
	size_t robust_size;
};

static int registered_get(struct registered *ret)
{
	if (prctl(PR_GET_TID_ADDRESS, &ret->tid_place, 0, 0, 0) < 0)
		return -errno;
	if (syscall(SYS_get_robust_list, 0, &ret->robust_list, &ret->robust_size) < 0)
		return -errno;
	return 0;
}

/* In the copy. */
static void registered_set(const struct registered *registered)
{
	(void)syscall(SYS_set_robust_list, registered->robust_list, registered->robust_size);
	if (__rseq_size > 0) {
		struct rseq *rseq = (struct rseq *)((uintptr_t)__builtin_thread_pointer() +
						    (uintptr_t)__rseq_offset);

		rseq->cpu_id = (uint32_t)RSEQ_CPU_ID_UNINITIALIZED;
		(void)syscall(SYS_rseq, rseq, __rseq_size < 32 ? 32 : __rseq_size, 0, RSEQ_SIG);
	}
}

/* Not with the others: a group outside of one's namespace cannot be entered by birth. */
static int cgroup_namespace_enter(int pidfd)
{
	return setns(pidfd, CLONE_NEWCGROUP) < 0 ? -errno : 0;
}

static int others_close(void)
{
	return close_range(INIT_CONTROL_FD + 1, ~0U, 0) < 0 ? -errno : 0;
}

/*
 * In the copy: a failure is told to init by the socket. The groups of v1 are for the copy to enter
 * and not for the helpers, whose memory is the zygote's: a cell that is short of memory may lose
 * the processes in its groups, and with one of them goes whoever shares its memory.
 */
static void copy_settle(
	const struct zygote_request *request, const int *fds, const struct registered *registered)
{
	registered_set(registered);
	if (dup2(fds[ZYGOTE_FD_SOCKET], INIT_CONTROL_FD) < 0)
		_exit(1); /* init sees the socket hang up */
	wall(STAGE_WARM_CGROUP,
		groups_enter(fds + ZYGOTE_FD_CGROUPS + request->has_leaf, request->n_tasks));
	wall(STAGE_WARM_CGROUP, cgroup_namespace_enter(fds[ZYGOTE_FD_PIDFD]));
	wall(STAGE_WARM_CGROUP, others_close());
}

/* Needed by each of the three; lies in the zygote's frame. */
struct journey {
	const struct zygote_request *request;
	const int *fds;
	struct registered registered;
	volatile struct trail trail;
};

/* In the cell's pid namespace. Returns in the copy only. */
__attribute__((noinline)) static int stem_run(struct journey *journey)
{
	struct clone_args args = { .flags = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID,
		.child_tid = (uintptr_t)journey->registered.tid_place,
		.exit_signal = SIGCHLD };
	long pid;

	if (journey->request->has_leaf) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned)journey->fds[ZYGOTE_FD_CGROUPS];
	}
	if (failed(&journey->trail, STAGE_WARM_CLONE, 0))
		_exit(0);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		copy_settle(journey->request, journey->fds, &journey->registered);
		return 1;
	}
	(void)failed(&journey->trail, STAGE_WARM_CLONE, pid < 0 ? -errno : 0);
	_exit(0);
}

#define CELL_NAMESPACES                                                                            \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

/* Returns in the copy only. */
__attribute__((noinline)) static int helper_run(struct journey *journey)
{
	volatile struct trail *trail = &journey->trail;
	int pidfd = journey->fds[ZYGOTE_FD_PIDFD];
	pid_t pid;

	if (failed(trail, STAGE_WARM_ENTER, setns(pidfd, CELL_NAMESPACES) < 0 ? -errno : 0))
		_exit(0);
	pid = vfork();
	if (pid == 0)
		return stem_run(journey);
	if (pid < 0)
		(void)failed(trail, STAGE_WARM_CLONE, -errno);
	else
		(void)waitpid(pid, NULL, 0);
	_exit(0);
}

int cell_fork(const struct zygote_request *request, const int *fds, unsigned *ret_stage)
{
	struct journey journey = { .request = request, .fds = fds };
	pid_t pid;
	int r = registered_get(&journey.registered);

	if (r < 0)
		return r;
	pid = vfork();
	if (pid == 0)
		return helper_run(&journey);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	*ret_stage = journey.trail.stage;
	return -journey.trail.error;
}
