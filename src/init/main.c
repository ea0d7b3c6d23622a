#include "base/clock.h"
#include "base/fd.h"
#include "init/cell.h"
#include "jail/inside/identity.h"
#include "jail/inside/script.h"
#include "jail/inside/wall.h"
#include "wire/channel.h"
#include "wire/message.h"
#include "wire/package.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

static void event_send(const struct init_event *event)
{
	(void)channel_send(INIT_CONTROL_FD, event, sizeof(*event), NULL, 0);
}

static int run_receive(struct jail_run *run, int *fds)
{
	size_t n_fds;
	ssize_t n;

	n = channel_receive(INIT_CONTROL_FD, run, sizeof(*run), fds, &n_fds);
	if (n == 0)
		_exit(0); /* a spare that was not needed */
	if (n < 0)
		return (int)n;
	if ((size_t)n != sizeof(*run) || run->magic != PLAN_MAGIC || n_fds != WIRE_RUN_FDS)
		return -EBADMSG;
	return 0;
}

static int package_map(int fd, struct script *script)
{
	struct stat status;
	void *data;

	if (!fd_is_sealed(fd) || fstat(fd, &status) < 0)
		return -EPERM;
	if (status.st_size <= 0 || status.st_size > PACKAGE_SIZE_MAX)
		return -EBADMSG;
	data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	script->package = data;
	script->package_size = (size_t)status.st_size;
	return 0;
}

static int child_signals_open(void)
{
	sigset_t children;
	int fd;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	if (sigprocmask(SIG_SETMASK, &children, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static uint64_t time_us(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

/* Reaps every dead child. True once the script itself was among them; then *event tells its end. */
static int children_reap(pid_t script, struct init_event *event)
{
	int is_over = 0, status;
	struct rusage usage;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		uint64_t rss = (uint64_t)usage.ru_maxrss * 1024;

		event->cpu_us += time_us(&usage.ru_utime) + time_us(&usage.ru_stime);
		if (rss > event->max_rss_bytes)
			event->max_rss_bytes = rss;
		if (pid == script) {
			event->kind = INIT_EXITED;
			event->status = status;
			is_over = 1;
		}
	}
	return is_over;
}

static void script_watch(const struct watch *watch)
{
	struct init_event event = { 0 };
	struct pollfd polls[2] = { { .fd = INIT_CONTROL_FD, .events = POLLIN },
		{ .fd = watch->signal_fd, .events = POLLIN } };
	struct signalfd_siginfo info;

	while (!children_reap(watch->script, &event)) {
		usec_t now = clock_now_us();

		/* Out of time, or a word or hang-up on the socket: it is over. */
		if (now >= watch->deadline_us)
			return;
		(void)poll(polls, 2, (int)((watch->deadline_us - now) / 1000) + 1);
		if (polls[0].revents)
			return;
		while (read(watch->signal_fd, &info, sizeof(info)) > 0)
			continue;
	}
	event_send(&event);
}

int main(void)
{
	static struct cell cell;
	struct init_event born = { .kind = INIT_BORN }, ready = { .kind = INIT_READY },
			  started = { .kind = INIT_STARTED };
	struct script script = { .plan = &cell.plan, .filter = cell.filter };
	struct watch watch;
	struct jail_run run;
	int fds[CHANNEL_FDS_MAX];

	/* executed out of a memfd, older kernels name us by its number */
	(void)prctl(PR_SET_NAME, "cloche-init", 0, 0, 0);
	event_send(&born);
	cell_build(&cell);
	wall(STAGE_INIT_READY, channel_send(INIT_CONTROL_FD, &ready, sizeof(ready), NULL, 0));
	wall(STAGE_RUN_PACKAGE, run_receive(&run, fds));
	wall(STAGE_RUN_PACKAGE, package_map(fds[WIRE_RUN_PACKAGE], &script));
	watch.signal_fd = child_signals_open();
	wall(STAGE_RUN_PACKAGE, watch.signal_fd);
	script.fds = fds;
	script.landlock_fd = cell.landlock_fd;
	script_prepare(&script);
	watch.script = script_start(&script);
	/* checked, but past the point where a test may make it fail: the script runs */
	wall_check(STAGE_SCRIPT_CAPABILITIES, identity_drop_capabilities());
	channel_close_fds(fds, CHANNEL_FDS_MAX);
	event_send(&started);
	watch.deadline_us = clock_now_us() + run.watchdog_ms * 1000;
	script_watch(&watch);
	return 0;
}
