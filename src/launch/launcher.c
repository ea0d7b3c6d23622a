#include "launch/launcher.h"

#include "base/fd.h"
#include "base/str.h"
#include "jail/outside/caps.h"
#include "jail/outside/filter.h"
#include "launch/delegate.h"
#include "launch/inner_exec.h"
#include "launch/launcher_files.h"
#include "launch/outer.h"
#include "launch/refuse.h"
#include "wire/channel.h"
#include "wire/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Theory of operation. Only this process has rights in the initial namespaces, as root or through
 * the set-user-id helpers, and only until jaild has been placed: it finds an id range and a cgroup,
 * clones the child that will be jaild into new user, pid, mount, net, ipc and uts namespaces,
 * writes its maps, moves it into its cgroup, drops everything and says "go". From then on it just
 * waits.
 *
 * As root it goes on as jaild's uid. One capability stays permitted, without being in effect: at
 * the end it has to remove its group from a folder of root's.
 *
 * jaild is process 1 of its own pid namespace: when it ends, for whatever reason, the kernel ends
 * every cell. When this process dies, jaild gets SIGKILL (PR_SET_PDEATHSIG).
 */

#define OUTER_NAMESPACES                                                                           \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

#define CAP_AT_END (1ULL << CAP_DAC_OVERRIDE)

struct launch {
	const struct options *options;
	struct launcher_files files;
	struct id_range range;
	struct cgroup_host host;
	struct delegation delegation;
	struct cgroup_root cgroups;
	pid_t jaild;
	int child_fd;	/* to it, as long as we live: its hang-up tells of our death */
	char text[256]; /* what went wrong, for people */
};

/* A failure is told once, by its stage. True if the step worked. */
static bool step_check(struct launch *launch, enum stage stage, int result)
{
	if (result >= 0)
		return true;
	refuse_start(launch->options->socket_fd, stage, result, launch->text);
	return false;
}

/* One step, which a test can make fail (wire/stage.h). */
#define step(launch, stage, expression) step_check(launch, stage, STAGE_TRY(stage, expression))

static int cgroups_choose(struct launch *launch)
{
	cgroup_find(&launch->host);
	if (launch->options->is_unlimited)
		launch->host.backend = WIRE_CGROUP_NONE;
	if (launch->host.backend != WIRE_CGROUP_NONE || launch->options->is_unlimited)
		return 0;
	(void)str_format(launch->text, sizeof(launch->text),
		"%s (or --unlimited-host, to run without limits)", launch->host.text);
	return -EOPNOTSUPP;
}

static int cgroups_delegate(struct launch *launch)
{
	struct delegate_owner owner = { getuid(), getgid() };
	int r;

	if (geteuid() == 0)
		owner = (struct delegate_owner){ launch->range.first_uid, launch->range.first_gid };
	if (launch->host.backend == WIRE_CGROUP_NONE) {
		launch->cgroups = (struct cgroup_root){ WIRE_CGROUP_NONE, -1, -1, -1, -1 };
		launch->delegation = delegation_none(&launch->host);
		return 0;
	}
	delegate_sweep(&launch->host);
	r = delegate_make(&launch->host, &owner, &launch->delegation, &launch->cgroups);
	if (r == -EACCES || r == -EPERM || r == -EROFS)
		(void)str_format(launch->text, sizeof(launch->text),
			"our cgroup does not belong to us: start by systemd-run %s--scope -p "
			"Delegate=yes (or --unlimited-host, to run without limits)",
			geteuid() == 0 ? "" : "--user ");
	if (r == -EBUSY)
		(void)str_copy(launch->text, sizeof(launch->text),
			"other processes live in our cgroup: start by systemd-run --scope -p "
			"Delegate=yes");
	return r;
}

/* The child: waits for "go" on socket, then becomes jaild. */
static void child_run(struct launch *launch, int socket)
{
	uint32_t count = 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (read(socket, &count, sizeof(count)) != sizeof(count))
		_exit(1);
	inner_exec(&(struct inner){ .options = launch->options,
		.files = &launch->files,
		.cgroups = &launch->cgroups,
		.ids = count,
		.launcher_fd = socket });
	_exit(1);
}

static int child_clone(struct launch *launch)
{
	int sockets[2], r;
	long pid;

	r = channel_pair(sockets);
	if (r < 0)
		return r;
	pid = syscall(SYS_clone, OUTER_NAMESPACES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		(void)fd_close(sockets[0]);
		child_run(launch, sockets[1]);
	}
	r = pid < 0 ? -errno : 0;
	(void)fd_close(sockets[1]);
	if (r < 0) {
		(void)fd_close(sockets[0]);
		(void)str_copy(launch->text, sizeof(launch->text),
			"user namespaces are not allowed here: see cloche doctor");
		return r;
	}
	launch->jaild = (pid_t)pid;
	launch->child_fd = sockets[0];
	return 0;
}

/* Nothing of the start is needed any more. Root becomes jaild's uid without capabilities. */
static int rights_drop(const struct launch *launch)
{
	int r;

	if (geteuid() == 0) {
		r = caps_drop_to(launch->range.first_uid, launch->range.first_gid, CAP_AT_END);
		if (r < 0)
			return r;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return filter_install_own();
}

/* jaild must outlive its jails when the host is out of memory; only root may ask for that. */
static void jaild_protect(const struct launch *launch)
{
	char path[48];

	(void)str_format(path, sizeof(path), "/proc/%d/oom_score_adj", launch->jaild);
	(void)fd_write_file(AT_FDCWD, path, "-500");
}

static bool jaild_place(struct launch *launch)
{
	uint32_t count = 0;

	jaild_protect(launch);
	if (!step(launch, STAGE_OUTER_CGROUP, delegate_attach(&launch->delegation, launch->jaild)))
		return false;
	if (!step(launch, STAGE_OUTER_MAPS,
		    outer_map(launch->jaild, &launch->range, &count, launch->text,
			    sizeof(launch->text))))
		return false;
	if (!step(launch, STAGE_LAUNCHER_DROP, rights_drop(launch)))
		return false;
	return fd_write_full(launch->child_fd, &count, sizeof(count)) == 0;
}

/* Waits for jaild's end. SIGTERM hangs up on its client, which ends it in order. */
static void jaild_wait(const struct launch *launch)
{
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	while (waitpid(launch->jaild, NULL, WNOHANG) == 0) {
		signal = sigwaitinfo(&signals, NULL);
		if (signal == SIGTERM)
			(void)shutdown(launch->options->socket_fd, SHUT_RDWR);
	}
}

static void leftovers_remove(const struct launch *launch)
{
	if (!launch->delegation.host || launch->host.backend == WIRE_CGROUP_NONE ||
		!launch->delegation.name[0])
		return;
	(void)caps_raise();
	delegate_remove(&launch->delegation);
}

/* The client's end must be what jaild speaks over. */
static int socket_check(const struct options *options)
{
	int type = 0;
	socklen_t size = sizeof(type);

	if (getsockopt(options->socket_fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		return -errno;
	return type == SOCK_SEQPACKET ? 0 : -ESOCKTNOSUPPORT;
}

static bool jaild_launch(struct launch *launch)
{
	if (!step(launch, STAGE_OPTIONS, socket_check(launch->options)))
		return false;
	if (!step(launch, STAGE_INIT_BINARY,
		    launcher_files_open(&launch->files, launch->text, sizeof(launch->text))))
		return false;
	if (!step(launch, STAGE_ID_RANGE,
		    id_range_find(&launch->range, launch->text, sizeof(launch->text))))
		return false;
	if (!step(launch, STAGE_CGROUP_FIND, cgroups_choose(launch)))
		return false;
	if (!step(launch, STAGE_CGROUP_DELEGATE, cgroups_delegate(launch)))
		return false;
	if (!step(launch, STAGE_OUTER_CLONE, child_clone(launch)))
		return false;
	return jaild_place(launch);
}

int launcher_run(const struct options *options)
{
	static struct launch launch;
	sigset_t all;
	bool is_started;

	launch.options = options;
	launch.jaild = -1;
	launch.child_fd = -1;
	/* out of the terminal's reach: Ctrl-C is the client's to handle */
	(void)setsid();
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	is_started = jaild_launch(&launch);
	if (launch.jaild > 0) {
		if (!is_started)
			(void)kill(launch.jaild, SIGKILL);
		jaild_wait(&launch);
	}
	leftovers_remove(&launch);
	return is_started ? 0 : 1;
}
