#include "jail/inside/filter_map.h"
#include "jail/inside/identity.h"
#include "jail/inside/resources.h"
#include "jail/inside/script_drop.h"
#include "jail/inside/streams.h"
#include "jail/inside/wall.h"
#include "jail/inside/warm.h"
#include "wire/channel.h"
#include "wire/message.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/*
 * The process's end. It is a copy of the zygote, with the zygote's memory and, until script_drop,
 * all capabilities in the cell's user namespace; so it does nothing here but become the script's
 * process, by the same code as one that will be executed.
 */

/* The process that forked us ends at once; then init is our parent and can wait for us. */
#define ORPHAN_PAUSE_US 50
#define ORPHAN_TRIES	40000

enum {
	PLAN_LANDLOCK,
	PLAN_FILTER,
	PLAN_FDS
};

static int plan_receive(struct jail_plan *plan, int *fds)
{
	size_t n_fds;
	ssize_t n = channel_receive(INIT_CONTROL_FD, plan, sizeof(*plan), fds, &n_fds);

	if (n == 0)
		_exit(0); /* the cell has gone, or has no use for us */
	if (n < 0)
		return (int)n;
	if (n_fds != PLAN_FDS)
		return -EBADMSG;
	/* init has checked it, with its own descriptors */
	return plan_check(plan, (uint64_t)n, plan->limits.own_proc ? PLAN_FDS_MAX : PLAN_FD_PROC);
}

/* A script may look at its own process, as any other that was executed. */
static int dumpable_set(void)
{
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ? -errno : 0;
}

void warm_become(void)
{
	struct jail_plan plan;
	struct script script = { .plan = &plan };
	int fds[CHANNEL_FDS_MAX];

	wall(STAGE_WARM_PLAN, plan_receive(&plan, fds));
	wall(STAGE_WARM_PLAN, filter_map(fds[PLAN_FILTER], plan.filter_count, &script.filter));
	wall(STAGE_WARM_BOUNDING, identity_empty_bounding());
	wall(STAGE_WARM_AFFINITY, resources_pin(plan.cpus));
	script.filter_count = plan.filter_count;
	script.landlock_fd = fds[PLAN_LANDLOCK];
	script_drop(&script, INIT_CONTROL_FD + 1);
	(void)munmap((void *)(uintptr_t)script.filter, plan.filter_count * sizeof(*script.filter));
	wall(STAGE_WARM_DUMPABLE, dumpable_set());
}

static int orphan_await(void)
{
	const struct timespec pause = { .tv_nsec = ORPHAN_PAUSE_US * 1000 };

	for (int i = 0; i < ORPHAN_TRIES; i++) {
		if (getppid() == 1)
			return 0;
		(void)nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

static void event_send(enum init_event_kind kind)
{
	struct init_event event = { .kind = kind, .status = getpid() };

	wall_check(STAGE_WARM_READY, channel_send(INIT_CONTROL_FD, &event, sizeof(event), NULL, 0));
}

bool warm_wait(int *ret_package_fd)
{
	int fds[CHANNEL_FDS_MAX];
	struct jail_run run;
	size_t n_fds;
	ssize_t n;

	wall(STAGE_WARM_READY, orphan_await());
	event_send(INIT_READY);
	n = channel_receive(INIT_CONTROL_FD, &run, sizeof(run), fds, &n_fds);
	if (n <= 0)
		return false;
	if (n != sizeof(run) || run.magic != PLAN_MAGIC || n_fds != WIRE_RUN_FDS)
		return false;
	wall(STAGE_SCRIPT_STDIO, streams_connect(fds, false));
	/* the report takes the socket's place */
	event_send(INIT_STARTED);
	if (dup2(fds[WIRE_RUN_REPORT], SCRIPT_REPORT_FD) < 0)
		_exit(1);
	*ret_package_fd = fds[WIRE_RUN_PACKAGE];
	fds[WIRE_RUN_PACKAGE] = -1;
	channel_close_fds(fds, WIRE_RUN_FDS);
	return true;
}
