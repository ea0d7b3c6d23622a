#include "jail/outside/spawn.h"

#include "jail/outside/caps.h"
#include "jail/plan/maker.h"
#include "jail/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Theory of operation. A plain copy of jaild in the template's mount namespace arranges its
 * descriptors, gives up what it does not need and executes cloche-init, which becomes what its
 * first message says. No cell is made like this: a copy of jaild made and thrown away at an exec
 * costs as much as all else of a cell, so cells are copies of a maker (jail/outside/maker.h).
 */

/* dup2 onto its own number would leave the descriptor close-on-exec. */
static int descriptor_move(int from, int to)
{
	if (from == to)
		return fcntl(from, F_SETFD, 0) < 0 ? -errno : 0;
	return dup2(from, to) < 0 ? -errno : 0;
}

/* 0 to 2 are /dev/null, 3 the control socket, and all others close at the exec. The sources lie
 * above 3: jaild moved them there at its start. */
static int descriptors_arrange(const struct spawn *spawn)
{
	for (int fd = 0; fd < INIT_CONTROL_FD; fd++) {
		int r = descriptor_move(spawn->null_fd, fd);

		if (r < 0)
			return r;
	}
	if (close_range(INIT_CONTROL_FD + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return -errno;
	return descriptor_move(spawn->control_fd, INIT_CONTROL_FD);
}

static int init_execute(const struct spawn *spawn, char *name)
{
	char *const argv[] = { name, NULL };
	char *const envp[] = { NULL };

	execveat(spawn->init_fd, "", argv, envp, AT_EMPTY_PATH);
	return -errno;
}

/* clone3 in the template's mount namespace. */
static long template_clone(const struct spawn *spawn, struct clone_args *args)
{
	long pid;
	int error;

	if (setns(spawn->template_ns_fd, CLONE_NEWNS) < 0)
		return -errno;
	pid = syscall(SYS_clone3, args, sizeof(*args));
	error = errno;
	if (pid == 0)
		return 0;
	/* Not coming back would leave jaild without its own mounts: end, and all cells with us. */
	if (setns(spawn->own_ns_fd, CLONE_NEWNS) < 0)
		_exit(1);
	return pid < 0 ? -error : pid;
}

/* The group that its memory is charged to, before it has any of its own. */
static int group_enter(const struct spawn *spawn)
{
	return spawn->tasks_fd < 0 || write(spawn->tasks_fd, "0", 1) == 1 ? 0 : -EIO;
}

static const struct {
	char name[sizeof(INIT_NAME)];
	uint64_t flags;
	uint64_t capabilities;
} kinds[] = {
	[SPAWN_MAKER] = { .name = MAKER_NAME, .capabilities = 1ULL << CAP_SYS_ADMIN },
	[SPAWN_ZYGOTE] = { .name = INIT_NAME,
		.flags = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS },
};

/* In the child. With no_new_privs inherited, the exec gives no capability back. jaild hears of a
 * failure as of the hang-up. */
__attribute__((noreturn)) static void child_become(const struct spawn *spawn, enum spawn_kind kind)
{
	char name[sizeof(kinds[kind].name)];

	memcpy(name, kinds[kind].name, sizeof(name));
	if (group_enter(spawn) == 0 && descriptors_arrange(spawn) == 0 &&
		caps_keep_only(kinds[kind].capabilities) == 0)
		(void)init_execute(spawn, name);
	_exit(1);
}

int spawn_init(const struct spawn *spawn, enum spawn_kind kind, pid_t *pid, int *ret_pidfd)
{
	int pidfd = -1;
	struct clone_args args = { .flags = kinds[kind].flags | CLONE_PIDFD,
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
		.set_tid = *pid > 0 ? (uintptr_t)pid : 0,
		.set_tid_size = *pid > 0 };
	long child;

	if (spawn->leaf_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned)spawn->leaf_fd;
	}
	child = template_clone(spawn, &args);
	if (child == 0)
		child_become(spawn, kind);
	if (child < 0)
		return (int)child;
	*pid = (pid_t)child;
	*ret_pidfd = pidfd;
	return 0;
}
