#include "base/clock.h"
#include "base/fd.h"
#include "init/cell.h"
#include "init/children.h"
#include "init/live.h"
#include "jail/inside/identity.h"
#include "jail/inside/script.h"
#include "jail/inside/wall.h"
#include "jail/inside/warm.h"
#include "jail/plan/live.h"
#include "wire/channel.h"
#include "wire/message.h"
#include "wire/package.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * cloche-init: process 1 of a cell. It builds the cell, starts one script, reaps what the script
 * leaves behind, and ends with it; the kernel then kills everything else in the namespace. It is
 * static, allocates nothing, reads nothing that a script wrote, and is handed all it needs over
 * one socket. It ends, and the cell with it, when that socket hangs up, when jaild dies, or when
 * its own watchdog runs out, should jaild have forgotten it.
 */

struct watch {
	pid_t script;
	int signal_fd;
	usec_t deadline_us;
};

static struct cell own;

static void event_send(const struct init_event *event)
{
	(void)channel_send(INIT_CONTROL_FD, event, sizeof(*event), NULL, 0);
}

static int ready_tell(const struct jail_plan *plan)
{
	const struct init_event ready = { .kind = INIT_READY };

	return plan->is_quiet ? 0 : channel_send(INIT_CONTROL_FD, &ready, sizeof(ready), NULL, 0);
}

/* The next word of jaild's. */
static int word_receive(struct jail_run *run, int *fds)
{
	size_t n_fds;
	ssize_t n;

	n = channel_receive(INIT_CONTROL_FD, run, sizeof(*run), fds, &n_fds);
	if (n == 0)
		_exit(0); /* a spare that was not needed */
	if (n < 0)
		return (int)n;
	if ((size_t)n == sizeof(*run) && run->magic == LIVE_MAGIC && n_fds == 0)
		return 0;
	if ((size_t)n != sizeof(*run) || run->magic != PLAN_MAGIC || run->word > JAIL_WARM)
		return -EBADMSG;
	return n_fds == (run->word == JAIL_WARM ? 1 : WIRE_RUN_FDS) ? 0 : -EBADMSG;
}

/* An interpreter is on its way: only the last one that was sent is wanted. */
static void warm_take(struct cell *cell, int fd)
{
	(void)fd_close(cell->warm_fd);
	cell->warm_fd = fd;
	if (warm_offer(fd, &cell->plan, cell->landlock_fd, cell->filter_fd) < 0)
		cell->warm_fd = fd_close(fd);
}

static int run_receive(struct cell *cell, struct jail_run *run, int *fds)
{
	int r;

	while ((r = word_receive(run, fds)) == 0 && run->word == JAIL_WARM)
		warm_take(cell, TAKE_FD(fds[0]));
	return r;
}

/* The run's process: one that waits for it, if there is one and it fits, or a new one. Which of
 * them is told with INIT_STARTED. */
static pid_t run_start(struct cell *cell, const struct script *script, const struct jail_run *run,
	struct init_event *started)
{
	pid_t pid = 0;

	if (cell->warm_fd >= 0 && !run->is_cold && script_fits_waiting())
		pid = STAGE_TRY(STAGE_RUN_HANDOVER, warm_start(cell->warm_fd, run, script->fds));
	wall_check(STAGE_RUN_HANDOVER, pid);
	cell->warm_fd = fd_close(cell->warm_fd);
	started->status = pid > 0;
	return pid > 0 ? pid : script_start(script);
}

/* A short one is read to where our memory is written in any case: a mapping costs more. */
static int package_take(int fd, struct script *script)
{
	static char little[512];
	struct stat status;
	void *data = little;

	if (!fd_is_sealed(fd) || fstat(fd, &status) < 0)
		return -EPERM;
	if (status.st_size <= 0 || status.st_size > PACKAGE_SIZE_MAX)
		return -EBADMSG;
	if (status.st_size > (off_t)sizeof(little))
		data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	else if (pread(fd, little, sizeof(little), 0) != status.st_size)
		return -EBADMSG;
	if (data == MAP_FAILED)
		return -errno;
	script->package = data;
	script->package_size = (size_t)status.st_size;
	return 0;
}

static void script_watch(const struct watch *watch)
{
	struct init_event event = { 0 };
	struct pollfd polls[2] = { { .fd = INIT_CONTROL_FD, .events = POLLIN },
		{ .fd = watch->signal_fd, .events = POLLIN } };

	while (!children_reap(watch->script, &event)) {
		usec_t now = clock_now_us();

		/* Out of time, or a word or hang-up on the socket: it is over. */
		if (now >= watch->deadline_us)
			return;
		(void)poll(polls, 2, (int)((watch->deadline_us - now) / 1000) + 1);
		if (polls[0].revents)
			return;
		children_heard(watch->signal_fd);
	}
	event.ended_us = clock_now_us();
	event_send(&event);
}

/* From the first message on. */
__attribute__((noreturn)) static void init_run(void)
{
	struct init_event started = { .kind = INIT_STARTED };
	struct cell *cell = &own;
	struct script script = { .plan = &cell->plan };
	struct watch watch;
	struct jail_run run;
	int fds[CHANNEL_FDS_MAX];

	cell_build(cell);
	wall(STAGE_INIT_READY, ready_tell(&cell->plan));
	wall(STAGE_RUN_PACKAGE, run_receive(cell, &run, fds));
	/* was for interpreters that come to wait here */
	cell->filter_fd = fd_close(cell->filter_fd);
	if (run.magic == LIVE_MAGIC) {
		cell->warm_fd = fd_close(cell->warm_fd);
		live_serve(cell);
	}
	wall(STAGE_RUN_PACKAGE, package_take(fds[WIRE_RUN_PACKAGE], &script));
	watch.signal_fd = children_open();
	wall(STAGE_RUN_PACKAGE, watch.signal_fd);
	script.fds = fds;
	script.landlock_fd = cell->landlock_fd;
	script.filter = cell->filter;
	script.filter_count = cell->filter_count;
	script_prepare(&script);
	watch.script = run_start(cell, &script, &run, &started);
	started.pid = watch.script;
	/* checked, but past the point where a test may make it fail: the script runs */
	wall_check(STAGE_SCRIPT_CAPABILITIES, identity_drop_capabilities());
	channel_close_fds(fds, CHANNEL_FDS_MAX);
	event_send(&started);
	watch.deadline_us = clock_now_us() + run.watchdog_ms * 1000;
	script_watch(&watch);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc != 1)
		return 1;
	/* executed out of a memfd, older kernels name us by its number */
	(void)prctl(PR_SET_NAME, argv[0], 0, 0, 0);
	own.name = argv[0];
	own.run = init_run;
	init_run();
}
