/*
 * Theory of operation: run_wait looks at one more descriptor for us, an epoll set of the signals, a
 * timer for the progress line, and an output that is full. Our stdout and stderr belong to the
 * shell too, so they are never made non-blocking; instead poll says whether a write can go on, and
 * at most PIPE_BUF bytes are written then, which a pipe that is writable takes without blocking
 * (pipe(7)).
 *
 * Bytes that cannot be written now wait in a bounded queue. When that is full we write and wait,
 * and the script's pipe fills behind us. A regular file cannot be polled and never blocks.
 *
 * The progress line is drawn where the cursor is at the start of a line, and wiped before anything
 * else is shown; without a terminal there is none.
 */
#include "cli/run/screen.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/signals.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const int stream_fds[RUN_STREAM_MAX] = { STDOUT_FILENO, STDERR_FILENO };

static int watch(struct screen *screen, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(screen->wake_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int screen_init(struct screen *screen, uint64_t limit_ms)
{
	const struct itimerspec each_second = { { 1, 0 }, { 1, 0 } };
	sigset_t set;
	int r;

	*screen = (struct screen){ .started_us = clock_now_us(),
		.limit_ms = limit_ms,
		.is_terminal = isatty(STDERR_FILENO) == 1 };
	for (int i = 0; i < RUN_STREAM_MAX; i++)
		buf_init(&screen->queue[i], SCREEN_QUEUE_MAX);
	signals_stop(&set);
	screen->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	screen->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	screen->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (screen->wake_fd < 0 || screen->signal_fd < 0 || screen->timer_fd < 0)
		return -errno;
	r = watch(screen, screen->signal_fd, EPOLLIN);
	if (r == 0 && screen->is_terminal) {
		(void)timerfd_settime(screen->timer_fd, 0, &each_second, NULL);
		r = watch(screen, screen->timer_fd, EPOLLIN);
	}
	if (r == 0 && sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		r = -errno;
	return r;
}

static void progress_wipe(struct screen *screen)
{
	if (!screen->is_progress_shown)
		return;
	screen->is_progress_shown = false;
	(void)fd_write_full(STDERR_FILENO, "\r\033[K", 4);
}

static void progress_show(struct screen *screen)
{
	char line[80];
	uint64_t seconds;
	int n;

	if (!screen->is_terminal || screen->is_line_open)
		return;
	seconds = (clock_now_us() - screen->started_us) / USEC_PER_S;
	n = screen->is_waiting || screen->limit_ms == 0
		    ? snprintf(line, sizeof(line), "\r\033[K%s, %" PRIu64 " s",
			      screen->is_waiting ? "waiting" : "running", seconds)
		    : snprintf(line, sizeof(line), "\r\033[Krunning, %" PRIu64 " of %" PRIu64 " s",
			      seconds, (screen->limit_ms + 999) / 1000);
	if (n > 0)
		(void)fd_write_full(STDERR_FILENO, line, (size_t)n);
	screen->is_progress_shown = true;
}

void screen_wait(struct screen *screen, bool is_waiting)
{
	progress_wipe(screen);
	screen->is_waiting = is_waiting;
	screen->started_us = clock_now_us();
}

/* Writes a part of the bytes; when must_wait, at least one. Returns how many, or -errno. */
static ssize_t write_some(int fd, struct str bytes, bool must_wait)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLOUT };

	for (;;) {
		ssize_t n;

		if (poll(&pollfd, 1, must_wait ? -1 : 0) <= 0 && !must_wait)
			return 0;
		n = write(fd, bytes.p, MIN(bytes.n, (size_t)PIPE_BUF));
		if (n >= 0)
			return n;
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
}

/* Empties the queue of a stream; from then on its descriptor does not wake. */
static void queue_forget(struct screen *screen, enum run_stream stream)
{
	if (screen->is_waited_for[stream])
		(void)epoll_ctl(screen->wake_fd, EPOLL_CTL_DEL, stream_fds[stream], NULL);
	screen->is_waited_for[stream] = false;
	buf_clear(&screen->queue[stream]);
	screen->written[stream] = 0;
}

/* Marks a stream that cannot be written; the script learns it as EPIPE. */
static int stream_lose(struct screen *screen, enum run_stream stream, int error)
{
	if (error != -EPIPE && stream == RUN_STDOUT)
		(void)dprintf(
			STDERR_FILENO, "cloche: stdout cannot be written: %s\n", strerror(-error));
	screen->is_gone[stream] = true;
	queue_forget(screen, stream);
	return -EPIPE;
}

/* Writes what waits for a stream, all of it when must_wait. Returns 0 or -EPIPE. */
static int queue_write(struct screen *screen, enum run_stream stream, bool must_wait)
{
	struct buf *queue = &screen->queue[stream];
	size_t *written = &screen->written[stream];

	while (*written < queue->len) {
		ssize_t n = write_some(stream_fds[stream],
			(struct str){ .p = queue->data + *written, .n = queue->len - *written },
			must_wait);

		if (n < 0)
			return stream_lose(screen, stream, (int)n);
		if (n == 0)
			return 0;
		*written += (size_t)n;
	}
	queue_forget(screen, stream);
	return 0;
}

int screen_show(struct screen *screen, enum run_stream stream, struct str bytes)
{
	int r = 0;

	if (screen->is_gone[stream])
		return -EPIPE;
	progress_wipe(screen);
	if (bytes.n > 0)
		screen->is_line_open = bytes.p[bytes.n - 1] != '\n';
	if (buf_add_slice(&screen->queue[stream], bytes) < 0) {
		r = queue_write(screen, stream, true);
		if (r == 0)
			(void)buf_add_slice(&screen->queue[stream], bytes);
	}
	if (r == 0)
		r = queue_write(screen, stream, false);
	/* EPERM, for a regular file, cannot come: that is always writable. */
	if (r == 0 && screen->queue[stream].len > 0 && !screen->is_waited_for[stream])
		screen->is_waited_for[stream] = watch(screen, stream_fds[stream], EPOLLOUT) == 0;
	return r;
}

int screen_turn(struct screen *screen)
{
	struct signalfd_siginfo info;
	uint64_t ticks;

	for (int i = 0; i < RUN_STREAM_MAX; i++)
		if (screen->queue[i].len > 0)
			(void)queue_write(screen, (enum run_stream)i, false);
	if (read(screen->timer_fd, &ticks, sizeof(ticks)) == (ssize_t)sizeof(ticks))
		progress_show(screen);
	if (read(screen->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		progress_wipe(screen);
		return (int)info.ssi_signo;
	}
	return 0;
}

void screen_fini(struct screen *screen)
{
	sigset_t set;

	progress_wipe(screen);
	signals_stop(&set);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	for (int i = 0; i < RUN_STREAM_MAX; i++) {
		(void)queue_write(screen, (enum run_stream)i, true);
		buf_fini(&screen->queue[i]);
	}
	screen->wake_fd = fd_close(screen->wake_fd);
	screen->signal_fd = fd_close(screen->signal_fd);
	screen->timer_fd = fd_close(screen->timer_fd);
}
