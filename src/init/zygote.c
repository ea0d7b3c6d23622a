#include "init/zygote.h"

#include "base/fd.h"
#include "base/macro.h"
#include "jail/inside/filter_map.h"
#include "jail/inside/resources.h"
#include "jail/inside/script_words.h"
#include "jail/inside/wall.h"
#include "jail/plan/plan.h"
#include "jail/plan/zygote.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * cloche-init does this, not a program of its own, because what a zygote starts with must be what a
 * script starts with: the environment, by the same function, and the interpreter. Capabilities and
 * no_new_privs are as jaild's child left them: none, and set.
 *
 * No Landlock here: a process that it restricts may not look into one that it does not
 * (landlock(7), "Ptrace restrictions"), and so could not enter a cell by its init. No mount here is
 * writable.
 */

static const char *const small_modules[] = {
#define PRELOAD_SMALL(name) name,
#define PRELOAD_DATA(name)
#define PRELOAD(kind, name) PRELOAD_##kind(name)
#include "jail/plan/preload.def"
#undef PRELOAD_SMALL
#undef PRELOAD_DATA
};

static const char *const data_modules[] = {
#define PRELOAD_SMALL(name)
#define PRELOAD_DATA(name) name,
#include "jail/plan/preload.def"
#undef PRELOAD
};

bool zygote_is_planned(const void *message, size_t size, size_t n_fds)
{
	const struct zygote_plan *plan = message;

	return size == sizeof(*plan) && n_fds == ZYGOTE_PLAN_FDS && plan->magic == ZYGOTE_MAGIC;
}

static int stack_limit(void)
{
	struct rlimit limit = { ZYGOTE_STACK_BYTES, ZYGOTE_STACK_BYTES };

	return setrlimit(RLIMIT_STACK, &limit) < 0 ? -errno : 0;
}

static int filter_install(const struct zygote_plan *plan, int fd)
{
	const struct sock_filter *filter;
	struct sock_fprog program = { .len = (unsigned short)plan->filter_count };
	int r = filter_map(fd, plan->filter_count, &filter);

	if (r < 0)
		return r;
	(void)fd_close(fd);
	program.filter = (struct sock_filter *)(uintptr_t)filter;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}

/* The words of a Python script without variables of its own, but for what is executed. */
static void words_make(enum zygote_kind kind, struct script_words *words)
{
	struct package package = { .language = PACKAGE_PYTHON };
	struct wire_limits limits = { .cpu_ms_per_s = ZYGOTE_CPU_MS_PER_S };
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(small_modules); i++)
		package.args[n++] = small_modules[i];
	for (size_t i = 0; i < ARRAY_SIZE(data_modules) && kind == ZYGOTE_DATA; i++)
		package.args[n++] = data_modules[i];
	package.n_args = n;
	script_words_make(words, &package, &limits);
	words->argv[1] = ZYGOTE_SCRIPT;
}

static int interpreter_execute(const struct script_words *words)
{
	execve(words->path, (char *const *)(uintptr_t)words->argv,
		(char *const *)(uintptr_t)words->envp);
	return -errno;
}

_Static_assert(ARRAY_SIZE(small_modules) + ARRAY_SIZE(data_modules) <= PACKAGE_ARGS_MAX,
	"the modules are arguments, and told by 64 bits");

/* In the place of the filter's, which is not needed any more. */
static int proc_hand_on(int proc_fd)
{
	if (stage_fails(STAGE_ZYGOTE_LESSON))
		proc_fd = STDIN_FILENO; /* it serves without: copies are slower */
	return dup2(proc_fd, ZYGOTE_PROC_FD) < 0 ? -errno : 0;
}

void zygote_become(const struct zygote_plan *plan, const int *fds)
{
	struct script_words words; /* not static: each page of ours is a page of every cell */

#ifdef CLOCHE_FAULT_INJECTION
	stage_to_fail = plan->stage_to_fail;
#endif
	wall(STAGE_ZYGOTE_PLAN, plan->kind < ZYGOTE_KINDS ? 0 : -EBADMSG);
	words_make(plan->kind, &words);
	wall(STAGE_ZYGOTE_INHERITED, resources_reset());
	wall(STAGE_ZYGOTE_STACK, stack_limit());
	wall(STAGE_ZYGOTE_SECCOMP, filter_install(plan, fds[ZYGOTE_PLAN_FILTER]));
	wall_check(STAGE_ZYGOTE_PLAN, proc_hand_on(fds[ZYGOTE_PLAN_PROC]));
	wall(STAGE_ZYGOTE_EXEC, interpreter_execute(&words));
	_exit(1);
}
