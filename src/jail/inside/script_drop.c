#include "jail/inside/script_drop.h"

#include "jail/inside/identity.h"
#include "jail/inside/landlock.h"
#include "jail/inside/resources.h"
#include "jail/inside/wall.h"

#include <errno.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The order follows security.md: resources first, while there are rights; Landlock; ids and
 * capabilities (the bounding set is empty already); descriptors; and the filter last, because it
 * forbids much of the above.
 */

static int signals_unblock(void)
{
	sigset_t none;

	sigemptyset(&none);
	return sigprocmask(SIG_SETMASK, &none, NULL) < 0 ? -errno : 0;
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

static int descriptors_close(unsigned first)
{
	return syscall(SYS_close_range, first, ~0U, 0) < 0 ? -errno : 0;
}

static int filter_install(const struct script *script)
{
	struct sock_fprog program = { .len = (unsigned short)script->filter_count,
		.filter = (struct sock_filter *)(uintptr_t)script->filter };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}

void script_drop(const struct script *script, unsigned first_closed_fd)
{
	wall(STAGE_SCRIPT_SESSION, setsid() < 0 ? -errno : 0);
	wall(STAGE_SCRIPT_SIGNALS, signals_unblock());
	wall(STAGE_SCRIPT_CWD, home_enter());
	wall(STAGE_SCRIPT_RLIMITS, resources_limit(&script->plan->limits));
	wall(STAGE_SCRIPT_NO_NEW_PRIVS, no_new_privs_set());
	wall(STAGE_SCRIPT_LANDLOCK, landlock_restrict(script->landlock_fd));
	wall(STAGE_SCRIPT_IDENTITY, identity_become_script());
	wall(STAGE_SCRIPT_CAPABILITIES, identity_drop_capabilities());
	wall(STAGE_SCRIPT_DESCRIPTORS, descriptors_close(first_closed_fd));
	wall(STAGE_SCRIPT_SECCOMP, filter_install(script));
}
