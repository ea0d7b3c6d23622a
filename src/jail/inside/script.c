#include "jail/inside/script.h"

#include "base/fd.h"
#include "jail/inside/identity.h"
#include "jail/inside/landlock.h"
#include "jail/inside/mounts.h"
#include "jail/inside/resources.h"
#include "jail/inside/script_words.h"
#include "jail/inside/wall.h"
#include "jail/plan/live.h"
#include "wire/message.h"
#include "wire/package.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Theory of operation. vfork(2), not fork: init is stopped until its child has executed, so nothing
 * is copied (a fork costs half a millisecond here), and the child may use init's memory. What it
 * may not do is return from the function that called vfork, hence script_become, which never
 * returns, and a failure that is left in memory for init to report.
 *
 * The order follows security.md: resources first, while there are rights; Landlock; ids and
 * capabilities (init has emptied the bounding set already, which is inherited); descriptors; and
 * the filter last, because it forbids much of the above.
 */

/* Python's bootstrap finds its report here and closes it before the script starts. */
#define SCRIPT_REPORT_FD 3

static struct package package;
static struct script_words words;

void script_prepare(const struct script *script)
{
	const char *path;

	wall(STAGE_RUN_PACKAGE, package_parse(script->package, script->package_size, &package));
	script_words_make(&words, &package, &script->plan->limits);
	if (package.language == PACKAGE_PROGRAM)
		return;
	path = package.language == PACKAGE_PYTHON ? CELL_CODE_PYTHON : CELL_CODE_BASH;
	wall(STAGE_RUN_WRITE, mounts_write_code(path, package.code, package.code_size));
	wall(STAGE_RUN_SEAL, mounts_seal_code());
}

void script_prepare_live(const struct script *script)
{
	package = (struct package){ .language = PACKAGE_PYTHON };
	script_words_make(&words, &package, &script->plan->limits);
	words.argv[1] = CELL_LIVE;
	wall(STAGE_RUN_SEAL, mounts_seal_code());
}

static int signals_unblock(void)
{
	sigset_t none;

	sigemptyset(&none);
	return sigprocmask(SIG_SETMASK, &none, NULL) < 0 ? -errno : 0;
}

/* The client's /dev/null would be the host's own: a script could lock it or set its times. The
 * cell's is on a read-only mount, which a device may be written on all the same. */
static int null_connect(int fd, int stream)
{
	struct stat status;
	int null_fd, r;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISCHR(status.st_mode))
		return 0;
	null_fd = open("/dev/null", (stream == STDIN_FILENO ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
	if (null_fd < 0)
		return -errno;
	r = dup2(null_fd, fd) < 0 ? -errno : 0;
	(void)fd_close(null_fd);
	return r;
}

/* The streams as 0, 1, 2 and, for Python, the report as 3. The sources are all above 3, since init
 * has had 0 to 3 open from the start. */
static int streams_connect(const int *fds)
{
	for (int i = 0; i < 3; i++) {
		int r = null_connect(fds[WIRE_RUN_STDIN + i], i);

		if (r < 0)
			return r;
		if (dup2(fds[WIRE_RUN_STDIN + i], i) < 0)
			return -errno;
	}
	if (package.language == PACKAGE_PYTHON && dup2(fds[WIRE_RUN_REPORT], SCRIPT_REPORT_FD) < 0)
		return -errno;
	return 0;
}

static int home_enter(void)
{
	umask(022);
	return chdir(CELL_HOME) < 0 ? -errno : 0;
}

static int no_new_privs_set(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

static int descriptors_close(void)
{
	unsigned first = package.language == PACKAGE_PYTHON ? SCRIPT_REPORT_FD + 1 : 3;

	return syscall(SYS_close_range, first, ~0U, 0) < 0 ? -errno : 0;
}

static int filter_install(const struct script *script)
{
	struct sock_fprog program = { .len = (unsigned short)script->plan->filter_count,
		.filter = (struct sock_filter *)(uintptr_t)script->filter };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}

static int interpreter_execute(void)
{
	execve(words.path, (char *const *)(uintptr_t)words.argv,
		(char *const *)(uintptr_t)words.envp);
	return -errno;
}

/* noinline: a frame of its own, so that nothing of the caller's frame is written before exec. */
__attribute__((noinline, noreturn)) static void script_become(const struct script *script)
{
	wall(STAGE_SCRIPT_SESSION, setsid() < 0 ? -errno : 0);
	wall(STAGE_SCRIPT_SIGNALS, signals_unblock());
	wall(STAGE_SCRIPT_STDIO, streams_connect(script->fds));
	wall(STAGE_SCRIPT_CWD, home_enter());
	wall(STAGE_SCRIPT_RLIMITS, resources_limit(&script->plan->limits));
	wall(STAGE_SCRIPT_NO_NEW_PRIVS, no_new_privs_set());
	wall(STAGE_SCRIPT_LANDLOCK, landlock_restrict(script->landlock_fd));
	wall(STAGE_SCRIPT_IDENTITY, identity_become_script());
	wall(STAGE_SCRIPT_CAPABILITIES, identity_drop_capabilities());
	wall(STAGE_SCRIPT_DESCRIPTORS, descriptors_close());
	wall(STAGE_SCRIPT_SECCOMP, filter_install(script));
	wall(STAGE_SCRIPT_EXEC, interpreter_execute());
	_exit(1);
}

pid_t script_start(const struct script *script)
{
	static volatile struct wall_failure failure;
	pid_t pid;

	failure.stage = STAGE_NONE;
	wall_check(STAGE_SCRIPT_FORK, stage_fails(STAGE_SCRIPT_FORK) ? -EIO : 0);
	wall_failure_set((struct wall_failure *)(uintptr_t)&failure);
	pid = vfork();
	if (pid == 0)
		script_become(script);
	wall_failure_set(NULL);
	wall_check(STAGE_SCRIPT_FORK, pid < 0 ? -errno : 0);
	if (failure.stage != STAGE_NONE)
		wall_check((enum stage)failure.stage, -failure.error);
	return pid;
}
