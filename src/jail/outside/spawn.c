#include "jail/outside/spawn.h"

#include "base/fd.h"
#include "base/macro.h"
#include "jail/outside/caps.h"
#include "jail/plan/plan.h"
#include "wire/channel.h"
#include "wire/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Theory of operation. A plain copy of jaild, which is small, in the new namespaces: it arranges
 * its descriptors and executes cloche-init. (vfork copies nothing, but stops jaild until the exec,
 * and with it every other session: half the throughput, see docs/performance.md.)
 *
 * At that moment the child's ids are not mapped, and an exec by an unmapped id drops all
 * capabilities. It keeps some as ambient ones (capabilities(7)) through the exec and becomes root
 * of its user namespace once jaild has written the maps. So all set-up of a cell is code of
 * cloche-init.
 */

/* The seventh, the network, is the session's. */
#define CELL_NAMESPACES                                                                            \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

/* What init builds a cell with, all below 32: ids, the bounding set, mounts and host name,
 * the limits of namespaces, entering the home. */
static const unsigned init_capabilities[] = { CAP_SETUID, CAP_SETGID, CAP_SETPCAP, CAP_SYS_ADMIN,
	CAP_SYS_RESOURCE, CAP_DAC_OVERRIDE };

/* These also inheritable and ambient, so that they survive the exec; the others do not. */
static int capabilities_keep(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, sets) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(init_capabilities); i++)
		sets[0].inheritable |= 1u << init_capabilities[i];
	if (syscall(SYS_capset, &head, sets) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(init_capabilities); i++) {
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, init_capabilities[i], 0, 0) < 0)
			return -errno;
	}
	return 0;
}

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

static int init_execute(const struct spawn *spawn)
{
	char name[] = "cloche-init";
	char *const argv[] = { name, NULL };
	char *const envp[] = { NULL };

	execveat(spawn->init_fd, "", argv, envp, AT_EMPTY_PATH);
	return -errno;
}

/* In the child. jaild hears of a failure as of one of init's own. */
__attribute__((noreturn)) static void child_become_init(const struct spawn *spawn)
{
	struct init_event event = { .kind = INIT_FAILED, .stage = STAGE_CELL_CLONE };
	int r;

	r = cgroup_cell_enter(spawn->cgroups, spawn->cgroup);
	if (r == 0)
		r = descriptors_arrange(spawn);
	if (r == 0)
		r = capabilities_keep();
	if (r == 0)
		r = init_execute(spawn);
	event.error = -r;
	(void)channel_send(spawn->control_fd, &event, sizeof(event), NULL, 0);
	_exit(1);
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

int spawn_init(const struct spawn *spawn, pid_t *ret_pid, int *ret_pidfd)
{
	AUTO_CLOSE int cgroup_fd = -1;
	int pidfd = -1, r;
	struct clone_args args = { .flags = CELL_NAMESPACES | CLONE_PIDFD,
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD };
	long pid;

	r = cgroup_cell_open(spawn->cgroups, spawn->cgroup, &cgroup_fd);
	if (r < 0)
		return r;
	if (cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned)cgroup_fd;
	}
	if (setns(spawn->network_fd, CLONE_NEWNET) < 0)
		return -errno;
	pid = template_clone(spawn, &args);
	if (pid == 0)
		child_become_init(spawn);
	/* Not coming back would leave jaild in a cell's network: end, and all cells with us. */
	if (setns(spawn->own_network_fd, CLONE_NEWNET) < 0)
		_exit(1);
	if (pid < 0)
		return (int)pid;
	*ret_pid = (pid_t)pid;
	*ret_pidfd = pidfd;
	return 0;
}

/* In the child. Without capabilities, and with no_new_privs inherited, the exec gives it none back.
 * jaild hears of a failure as of the hang-up. */
__attribute__((noreturn)) static void child_become_zygote(const struct spawn *spawn)
{
	if (descriptors_arrange(spawn) == 0 && caps_keep_only(0) == 0)
		(void)init_execute(spawn);
	_exit(1);
}

int spawn_zygote(const struct spawn *spawn, pid_t pid, int *ret_pidfd)
{
	int pidfd = -1;
	struct clone_args args = { .flags = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC |
					    CLONE_NEWUTS | CLONE_PIDFD,
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1 };
	long child = template_clone(spawn, &args);

	if (child == 0)
		child_become_zygote(spawn);
	if (child < 0)
		return (int)child;
	*ret_pidfd = pidfd;
	return 0;
}
