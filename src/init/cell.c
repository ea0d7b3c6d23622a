#include "init/cell.h"

#include "base/fd.h"
#include "init/maker.h"
#include "init/zygote.h"
#include "jail/inside/identity.h"
#include "jail/inside/landlock.h"
#include "jail/inside/mounts.h"
#include "jail/inside/namespaces.h"
#include "jail/inside/resources.h"
#include "jail/inside/wall.h"
#include "wire/channel.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* behind INIT_CONTROL_FD */
#define CELL_LANDLOCK_FD (INIT_CONTROL_FD + 1)
#define CELL_FILTER_FD	 (INIT_CONTROL_FD + 2)

/*
 * The descriptors of the plan are closed as soon as they have been used, so that at "ready" init
 * holds its control socket, the Landlock rules, the filter, and /dev/null on 0 to 2, and nothing
 * else.
 */

static int plan_receive(struct cell *cell, struct jail_plan *plan, int *fds)
{
	bool is_in_cell = getpid() == 1;
	size_t n_fds;
	ssize_t n;
	int r;

	n = channel_receive(INIT_CONTROL_FD, plan, sizeof(*plan), fds, &n_fds);
	if (n < 0)
		return (int)n;
	if (!is_in_cell && maker_is_planned(plan, (size_t)n, n_fds))
		maker_become((const struct maker_plan *)plan, fds, cell);
	if (!is_in_cell && zygote_is_planned(plan, (size_t)n, n_fds))
		zygote_become((const struct zygote_plan *)plan, fds);
	r = is_in_cell ? plan_check(plan, (uint64_t)n, n_fds) : -EBADMSG;
#ifdef CLOCHE_FAULT_INJECTION
	if (r == 0)
		stage_to_fail = plan->stage_to_fail;
#endif
	return r;
}

/* Dumpable again, which the change of ids has ended: as long as it is alone in its cell, a zygote
 * may enter by it, whose right over the cell does not reach the maker's namespace, where its memory
 * comes from. It hides before a script begins (identity_hide). */
static int identity_take(void)
{
	int r = identity_become_root();

	if (r < 0)
		return r;
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ? -errno : 0;
}

static int born_tell(void)
{
	const struct init_event born = { .kind = INIT_BORN };

	return channel_send(INIT_CONTROL_FD, &born, sizeof(born), NULL, 0);
}

/* jaild may have gone between our birth and this call: then the socket has hung up already. */
static int death_signal_set(void)
{
	struct pollfd control = { .fd = INIT_CONTROL_FD };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	if (poll(&control, 1, 0) < 0)
		return -errno;
	return control.revents & POLLHUP ? -EPIPE : 0;
}

static int hostname_set(void)
{
	return sethostname(CELL_HOSTNAME, strlen(CELL_HOSTNAME)) < 0 ? -errno : 0;
}

/* Only the control socket, the Landlock rules and the filter stay. Both lie higher before: the plan
 * came with two others in front of the filter. */
static int descriptors_close(int landlock_fd, int filter_fd)
{
	if (dup2(landlock_fd, CELL_LANDLOCK_FD) < 0 || dup2(filter_fd, CELL_FILTER_FD) < 0)
		return -errno;
	return close_range(CELL_FILTER_FD + 1, ~0U, 0) < 0 ? -errno : 0;
}

void cell_build(struct cell *cell)
{
	int fds[CHANNEL_FDS_MAX];
	int landlock_fd = -1;

	wall_check(STAGE_INIT_PLAN, plan_receive(cell, &cell->plan, fds));
	wall(STAGE_INIT_PLAN, cell->filter_count > 0 ? 0 : -EBADMSG);
	wall(STAGE_INIT_IDENTITY, identity_take());
	if (!cell->plan.is_quiet)
		wall_check(STAGE_INIT_IDENTITY, born_tell());
	wall(STAGE_INIT_DEATH_SIGNAL, death_signal_set());
	wall(STAGE_INIT_HOME, mounts_attach_home(fds[PLAN_FD_HOME]));
	wall(STAGE_INIT_TMPFS, mounts_make_tmpfs(&cell->plan.limits));
	if (cell->plan.limits.own_proc)
		wall(STAGE_INIT_PROC, mounts_attach_proc(fds[PLAN_FD_PROC]));
	wall(STAGE_INIT_HOSTNAME, hostname_set());
	wall(STAGE_INIT_NAMESPACES, namespaces_forbid(fds[PLAN_FD_PROC_SYS]));
	wall(STAGE_INIT_INHERITED, resources_reset());
	wall(STAGE_INIT_BOUNDING, identity_empty_bounding());
	wall(STAGE_INIT_LANDLOCK,
		landlock_prepare(cell->plan.landlock_abi, fds[PLAN_FD_HOME], &landlock_fd));
	wall(STAGE_INIT_AFFINITY, resources_pin(cell->plan.cpus));
	wall(STAGE_INIT_DESCRIPTORS, descriptors_close(landlock_fd, fds[PLAN_FD_FILTER]));
	cell->landlock_fd = CELL_LANDLOCK_FD;
	cell->filter_fd = CELL_FILTER_FD;
	cell->warm_fd = -1;
}
