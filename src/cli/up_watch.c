/*
 * Theory of operation: one loop over everything that may happen: a signal, a changed token file,
 * jaild's word, the end of either child, the supervisor's word that it is ready, and one clock.
 *
 * Two children, three rules. jaild ends: start another one (with backoff) and hand it to the
 * supervisor, whose sessions are lost. The supervisor ends: its socket to jaild closes with it, so
 * jaild ends too, and both are started again. Before we have said that we are ready, either end is
 * ours: something is wrong with this machine, and a person is waiting to hear it.
 *
 * The order to stop goes to the supervisor, which drains; jaild follows when it is gone.
 */
#include "cli/up.h"

#include "base/assert.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "jail/client/jaild.h"
#include "wire/channel.h"
#include "wire/message.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

enum source {
	SOURCE_SIGNAL,
	SOURCE_TOKENS,
	SOURCE_JAILD,
	SOURCE_JAILD_END,
	SOURCE_SUPERVISOR,
	SOURCE_SUPERVISOR_END,
	SOURCE_MAX
};

static void child_kill(const struct up_child *child, int number)
{
	if (child->pid)
		(void)pidfd_send_signal(child->pidfd, number, NULL, 0);
}

/* Begins the end, once. */
static void stop(struct up *up, int status)
{
	if (up->is_stopping)
		return;
	up->is_stopping = true;
	up->status = status;
	up->deadline_us = clock_now_us() + UP_STOP_US;
	up->jaild.socket = fd_close(up->jaild.socket);
	if (up->supervisor.pid)
		child_kill(&up->supervisor, SIGTERM);
	else
		child_kill(&up->jaild, SIGTERM);
}

/* What cannot be done: told to the person who has just started us, or else to the log, to be tried
 * again. */
static void fail(struct up *up, const struct fault *fault)
{
	if (up->has_been_ready) {
		log_error("msg=\"cannot start\" error=%s", LOG_VALUE(fault->text));
		return;
	}
	if (!up->is_stopping)
		(void)say_fault(fault);
	stop(up, EXIT_OURS);
}

/* The audit log was moved away: logrotate(8). */
static void audit_reopen(struct up *up)
{
	struct fault fault = { 0 };

	if (up_state_open_audit(&up->state, &fault) < 0) {
		log_error("msg=\"audit log not opened, the one before stays\" error=%s",
			LOG_VALUE(fault.text));
		return;
	}
	log_info("msg=\"audit log opened anew\"");
	if (up->supervisor.pid)
		(void)up_audit_send(up);
}

static void on_signal(struct up *up)
{
	struct signalfd_siginfo info;

	if (read(up->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP && !up->ends_by_hangup) {
		audit_reopen(up);
		return;
	}
	if (up->is_stopping && info.ssi_signo == SIGINT) {
		/* The second Ctrl-C: nobody wants to wait. */
		child_kill(&up->supervisor, SIGKILL);
		return;
	}
	log_info("msg=stopping signal=%u", info.ssi_signo);
	stop(up, 0);
}

static void on_tokens(struct up *up)
{
	char events[4096] __attribute__((aligned(8)));
	struct fault fault = { 0 };

	(void)!read(up->inotify_fd, events, sizeof(events));
	if (up_state_read_tokens(&up->state, &fault) < 0) {
		log_error("msg=\"tokens not read, those before stay\" error=%s",
			LOG_VALUE(fault.text));
		return;
	}
	if (up->supervisor.pid)
		(void)up_tokens_send(up);
}

/* jaild has said something: that it is ready, or which stage failed. Only looked at. */
static void on_jaild(struct up *up)
{
	struct wire_header header = { 0 };
	ssize_t n = recv(up->jaild.socket, &header, sizeof(header), MSG_PEEK | MSG_DONTWAIT);
	struct jaild jaild = JAILD_INIT;
	struct fault fault;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n == (ssize_t)sizeof(header) && header.type == WIRE_DONE) {
		if (up_jaild_hand_on(up, &fault) < 0)
			fail(up, &fault);
		return;
	}
	jaild_attach(&jaild, TAKE_FD(up->jaild.socket));
	(void)jaild_wait_ready(&jaild);
	jaild_stop(&jaild);
	fail(up, &jaild.fault);
}

/* When the next jaild is to start. */
static void restart_plan(struct up *up)
{
	usec_t now = clock_now_us();

	if (now - up->started_us >= UP_STEADY_US)
		up->backoff_us = 0;
	up->backoff_us = MIN(MAX(up->backoff_us * 2, UP_BACKOFF_MIN_US), UP_BACKOFF_MAX_US);
	up->start_at_us = now + up->backoff_us;
}

static void on_child_end(struct up *up, struct up_child *child, const char *name)
{
	struct fault fault;

	/* A word of why may still be there. */
	if (child == &up->jaild && up->jaild.socket >= 0)
		on_jaild(up);
	up_child_reap(child);
	if (up->is_stopping) {
		/* The supervisor held jaild; without it there was nobody to. */
		return;
	}
	log_error("msg=\"program ended\" program=%s", name);
	if (!up->has_been_ready) {
		fault_set(&fault, FAULT_SANDBOX_UNAVAILABLE, "%s ended before it was ready", name);
		fail(up, &fault);
		return;
	}
	restart_plan(up);
}

static void on_supervisor(struct up *up)
{
	struct control control;
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds = 0;
	ssize_t n = channel_receive(up->supervisor.socket, &control, sizeof(control), fds, &n_fds);

	if (n == -EAGAIN)
		return;
	if (n > 0)
		channel_close_fds(fds, n_fds);
	if (n <= 0 || control_check(&control, n, n_fds) < 0 || control.type != CONTROL_READY) {
		/* It is gone, or it is not ours any more. */
		up->supervisor.socket = fd_close(up->supervisor.socket);
		child_kill(&up->supervisor, SIGKILL);
		return;
	}
	/* a terminal has the line below, and would show both */
	if (up->has_been_ready || isatty(STDOUT_FILENO) != 1)
		log_info("msg=ready address=%s", LOG_VALUE(up->address));
	if (up->has_been_ready || up->is_stopping)
		return;
	up->has_been_ready = true;
	up->deadline_us = 0;
	(void)printf("ready %s\n", up->address);
	(void)fflush(stdout);
}

static void on_source(struct up *up, enum source source)
{
	switch (source) {
	case SOURCE_SIGNAL:
		on_signal(up);
		break;
	case SOURCE_TOKENS:
		on_tokens(up);
		break;
	case SOURCE_JAILD:
		on_jaild(up);
		break;
	case SOURCE_JAILD_END:
		on_child_end(up, &up->jaild, "cloche-jaild");
		break;
	case SOURCE_SUPERVISOR:
		on_supervisor(up);
		break;
	case SOURCE_SUPERVISOR_END:
		on_child_end(up, &up->supervisor, "cloche-supervisor");
		break;
	case SOURCE_MAX:
		unreachable_();
	}
}

/* What is due by the clock. */
static void clock_turn(struct up *up)
{
	usec_t now = clock_now_us();
	struct fault fault;

	if (up->deadline_us && now >= up->deadline_us) {
		if (up->is_stopping) {
			child_kill(&up->supervisor, SIGKILL);
			child_kill(&up->jaild, SIGKILL);
			up->deadline_us = 0;
			return;
		}
		fault_set(&fault, FAULT_SANDBOX_UNAVAILABLE,
			"no run has worked within a minute: the log above says why");
		fail(up, &fault);
	}
	if (up->is_stopping || up->jaild.pid || now < up->start_at_us)
		return;
	if (up_jaild_start(up, &fault) < 0) {
		fail(up, &fault);
		restart_plan(up);
	}
}

/* Milliseconds until the clock must be looked at, -1 for never. */
static int wait_ms(const struct up *up)
{
	usec_t now = clock_now_us(), at = up->deadline_us ? up->deadline_us : UINT64_MAX;

	if (!up->is_stopping && !up->jaild.pid)
		at = MIN(at, up->start_at_us);
	if (at == UINT64_MAX)
		return -1;
	return at <= now ? 0 : (int)((at - now) / USEC_PER_MS) + 1;
}

int up_watch(struct up *up)
{
	clock_turn(up);
	while (!up->is_stopping || up->jaild.pid || up->supervisor.pid) {
		struct pollfd polls[SOURCE_MAX] = {
			[SOURCE_SIGNAL] = { .fd = up->signal_fd, .events = POLLIN },
			[SOURCE_TOKENS] = { .fd = up->inotify_fd, .events = POLLIN },
			[SOURCE_JAILD] = { .fd = up->jaild.socket, .events = POLLIN },
			[SOURCE_JAILD_END] = { .fd = up->jaild.pidfd, .events = POLLIN },
			[SOURCE_SUPERVISOR] = { .fd = up->supervisor.socket, .events = POLLIN },
			[SOURCE_SUPERVISOR_END] = { .fd = up->supervisor.pidfd, .events = POLLIN },
		};

		/* One at a time: what one does may end what another one is about. */
		if (poll(polls, SOURCE_MAX, wait_ms(up)) > 0)
			for (unsigned i = 0; i < SOURCE_MAX; i++) {
				if (!polls[i].revents)
					continue;
				on_source(up, (enum source)i);
				break;
			}
		clock_turn(up);
	}
	return up->status;
}
