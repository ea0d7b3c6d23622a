#include "jail/inside/script.h"

#include "jail/inside/identity.h"
#include "jail/inside/mounts.h"
#include "jail/inside/script_drop.h"
#include "jail/inside/script_words.h"
#include "jail/inside/streams.h"
#include "jail/inside/wall.h"
#include "jail/plan/live.h"
#include "wire/package.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Theory of operation. vfork(2), not fork: init is stopped until its child has executed, so nothing
 * is copied (a fork costs half a millisecond here), and the child may use init's memory. What it
 * may not do is return from the function that called vfork, hence script_become, which never
 * returns, and a failure that is left in memory for init to report.
 */

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

bool script_fits_waiting(void)
{
	return package.language == PACKAGE_PYTHON && package.n_env == 0;
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
	bool has_report = package.language == PACKAGE_PYTHON;

	wall(STAGE_SCRIPT_STDIO, streams_connect(script->fds, has_report));
	script_drop(script, has_report ? SCRIPT_REPORT_FD + 1 : SCRIPT_REPORT_FD);
	wall(STAGE_SCRIPT_EXEC, interpreter_execute());
	_exit(1);
}

pid_t script_start(const struct script *script)
{
	static volatile struct wall_failure failure;
	pid_t pid;

	failure.stage = STAGE_NONE;
	wall(STAGE_SCRIPT_FORK, identity_hide());
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
