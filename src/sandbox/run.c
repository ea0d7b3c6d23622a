/*
 * Theory of operation: our ends of the two pipes are non-blocking and read whenever poll says so;
 * the script's ends are blocking, as programs expect. Nothing here waits for anything else while a
 * pipe is full, so printing costs the script a copy and never its life.
 *
 * The end is RUN_ENDED *and* end of file on both pipes. jaild says ENDED when nothing of the cell
 * lives, and the pipes' other ends were held by the cell alone, so the rest is in the pipes by then
 * and end of file follows at once. If it does not within a second, some holder is stuck elsewhere:
 * then what came is the answer, since a person waits.
 *
 * Until ENDED we hold the other ends too: a pipe that is closed early would wake us for nothing.
 * Not so where the script's process may be a copy of a zygote. That one closes its streams as the
 * last thing that it does (zygote.py), a millisecond before the kernel has freed its memory: so
 * jaild is asked to look at their end (RUN_LOOK), once.
 *
 * A live interpreter stays behind, frozen, and holds the other ends: there the end is RUN_ENDED,
 * and empty pipes.
 *
 * A lost connection comes through the watch as NULL: the run has failed, and the cell dies with
 * jaild. A jaild that is silent for the wall limit and RUN_GRACE_MS more counts as lost.
 */
#include "sandbox/run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"
#include "jail/client/refusal.h"
#include "sandbox/imports.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK_SIZE   8192 /* bytes of one read: half a frame, and an eighth of a pipe */
#define READS_MAX    32	  /* of one stream before the other gets its turn */
#define DRAIN_AT_END (1 * USEC_PER_S)

void run_init(struct run *run)
{
	*run = (struct run){ .state = RUN_IDLE,
		.fds = { -1, -1 },
		.held = { -1, -1 },
		.report_fd = -1,
		.hangup_fd = -1 };
	buf_init(&run->report_bytes, REPORT_SIZE);
	for (int i = 0; i < RUN_STREAM_MAX; i++)
		output_init(&run->output[i], OUTPUT_HALF_BYTES);
}

static int run_fail(struct run *run, int error, const char *what)
{
	run->state = RUN_FAILED;
	fault_set(&run->fault, FAULT_SANDBOX_UNAVAILABLE, "%s: %s", what, strerror(-error));
	return error;
}

static void held_close(struct run *run)
{
	for (int i = 0; i < RUN_STREAM_MAX; i++)
		run->held[i] = fd_close(run->held[i]);
}

static void run_begun(struct run *run, const struct wire_run_started *started)
{
	run->started = *started;
	run->state = RUN_RUNNING;
	if (run->on_started)
		run->on_started(run);
}

static void on_message(struct jaild_watch *watch, const union wire_any *message)
{
	struct run *run = container_of(watch, struct run, watch);

	if (!message) {
		run->state = RUN_FAILED;
		run->fault = run->jaild->fault;
		return;
	}
	switch (message->header.type) {
	case WIRE_RUN_STARTED:
		run_begun(run, &message->run_started);
		return;
	case WIRE_RUN_ENDED:
		run->ended = message->run_ended;
		if (run->ended.interpreter != WIRE_INTERPRETER_OWN)
			run_begun(run, &(struct wire_run_started){ .run = run->ended.run,
					       .start_us = run->ended.start_us,
					       .at_us = run->ended.at_us,
					       .interpreter = run->ended.interpreter,
					       .lost = run->ended.lost_before });
		run->state = RUN_ENDED;
		run->deadline_us = clock_now_us() + DRAIN_AT_END;
		held_close(run);
		break;
	case WIRE_FAILED:
		run->state = RUN_FAILED;
		(void)refusal_take(&message->failed, &run->fault);
		break;
	default:
		run->state = RUN_FAILED;
		fault_set(&run->fault, FAULT_SANDBOX_UNAVAILABLE, "jaild said '%s' of a run",
			wire_name(message->header.type));
		break;
	}
	jaild_unwatch(run->jaild, watch);
}

/* The memfd that the bootstrap maps: its size is fixed, so that no script can shrink it under us.
 * Who has no bootstrap has nothing to report, and reads as such (a supervisor may open it for
 * nothing else than reading). */
static int report_make(const struct package *package, int *ret_fd)
{
	AUTO_CLOSE int fd = -1;

	if (package->language != PACKAGE_PYTHON) {
		*ret_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return *ret_fd < 0 ? -errno : 0;
	}
	fd = memfd_create("cloche-report", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, REPORT_SIZE) < 0 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int package_make(const struct package *package, int *ret_fd)
{
	AUTO_BUF struct buf bytes = BUF_INIT(PACKAGE_SIZE_MAX);
	int r = package_format(package, &bytes);

	return r < 0 ? r : fd_memfd_sealed("cloche-package", bytes.data, bytes.len, ret_fd);
}

static int stdin_make(const struct run_request *request, int *ret_fd)
{
	struct str bytes = request->stdin_bytes;

	if (bytes.p)
		return fd_memfd_sealed("cloche-stdin", bytes.p, bytes.n, ret_fd);
	if (request->is_live) /* it has one of its own */
		return 0;
	*ret_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

/* A pipe whose read end is ours and never blocks. */
static int stream_make(int *ret_ours, int *ret_theirs)
{
	int pair[2], r;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	*ret_ours = pair[0];
	*ret_theirs = pair[1];
	r = fcntl(pair[0], F_SETFL, O_NONBLOCK); /* it has no other flag */
	return r < 0 ? -errno : 0;
}

/* Makes the descriptors that go to jaild; the caller closes those that are not -1. */
static int fds_make(struct run *run, const struct run_request *request, int fds[WIRE_RUN_FDS])
{
	int r = package_make(request->package, &fds[WIRE_RUN_PACKAGE]);

	if (r == 0)
		r = stdin_make(request, &fds[WIRE_RUN_STDIN]);
	if (r == 0)
		r = stream_make(&run->fds[RUN_STDOUT], &fds[WIRE_RUN_STDOUT]);
	if (r == 0)
		r = stream_make(&run->fds[RUN_STDERR], &fds[WIRE_RUN_STDERR]);
	if (r == 0)
		r = report_make(request->package, &fds[WIRE_RUN_REPORT]);
	return r;
}

static int ask(struct run *run, const struct run_request *request, const int *fds)
{
	struct wire_live live = { .session = request->session,
		.wall_ms = request->wall_ms,
		.flags = request->is_reset ? WIRE_LIVE_RESET : 0 };
	struct wire_run fresh = { .session = request->session,
		.wall_ms = request->wall_ms,
		.warm = imports_guess(request->package) };

	run->is_watched_end = !request->is_live && fresh.warm != WIRE_WARM_NONE;
	if (request->is_live)
		return jaild_live(run->jaild, &run->watch, &live, fds);
	return jaild_run(run->jaild, &run->watch, &fresh, fds);
}

int run_start(struct run *run, struct jaild *jaild, const struct run_request *request)
{
	int fds[WIRE_RUN_FDS] = { -1, -1, -1, -1, -1 };
	uint64_t wall_ms = request->wall_ms > 0 ? request->wall_ms : request->limit_ms;
	int r = fds_make(run, request, fds);

	run->jaild = jaild;
	run->watch.on_message = on_message;
	run->on_chunk = request->on_chunk;
	run->on_started = request->on_started;
	run->deadline_us = clock_now_us() + (wall_ms + RUN_GRACE_MS) * USEC_PER_MS;
	if (r < 0) {
		(void)run_fail(run, r, "the run could not be prepared");
	} else {
		r = ask(run, request, fds);
		if (r < 0) {
			run->fault = jaild->fault;
			run->state = RUN_FAILED;
		}
	}
	if (r == 0) {
		run->state = RUN_STARTING;
		run->report_fd = TAKE_FD(fds[WIRE_RUN_REPORT]);
		if (!run->is_watched_end) {
			run->held[RUN_STDOUT] = TAKE_FD(fds[WIRE_RUN_STDOUT]);
			run->held[RUN_STDERR] = TAKE_FD(fds[WIRE_RUN_STDERR]);
		}
	}
	for (size_t i = 0; i < WIRE_RUN_FDS; i++)
		fds[i] = fd_close(fds[i]);
	return r;
}

/* Reads what one pipe holds, for a bounded time; closes our end at its end. */
static void drain(struct run *run, enum run_stream stream)
{
	char chunk[CHUNK_SIZE];

	for (int i = 0; i < READS_MAX && run->fds[stream] >= 0; i++) {
		ssize_t n = read(run->fds[stream], chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			/* nobody writes any more */
			if (run->state == RUN_ENDED && run->ended.is_kept)
				run->fds[stream] = fd_close(run->fds[stream]);
			return;
		}
		if (n <= 0) {
			run->fds[stream] = fd_close(run->fds[stream]);
			return;
		}
		output_feed(&run->output[stream], chunk, (size_t)n);
		if (run->on_chunk &&
			run->on_chunk(run, stream, (struct str){ .p = chunk, .n = (size_t)n }) < 0)
			run->fds[stream] = fd_close(run->fds[stream]);
	}
}

/* Both streams have ended before the run has. */
static void end_look(struct run *run)
{
	if (!run->is_watched_end || run->has_looked || run->state != RUN_RUNNING ||
		run->fds[RUN_STDOUT] >= 0 || run->fds[RUN_STDERR] >= 0)
		return;
	run->has_looked = true;
	(void)jaild_run_look(run->jaild, run->started.run); /* a lost jaild the run sees */
}

static bool is_over(const struct run *run)
{
	if (run->state == RUN_FAILED)
		return true;
	return run->state == RUN_ENDED && run->fds[RUN_STDOUT] < 0 && run->fds[RUN_STDERR] < 0;
}

/* jaild was silent until the deadline, or nothing ends a pipe. */
static void give_up(struct run *run)
{
	if (run->state == RUN_ENDED) {
		for (int i = 0; i < RUN_STREAM_MAX; i++)
			run->fds[i] = fd_close(run->fds[i]);
		return;
	}
	fault_set(&run->fault, FAULT_SANDBOX_UNAVAILABLE,
		"jaild did not end the run at its time limit");
	run->state = RUN_FAILED;
}

static int timeout_ms(const struct run *run)
{
	usec_t now_us = clock_now_us();

	if (now_us >= run->deadline_us)
		return 0;
	return (int)MIN((run->deadline_us - now_us) / USEC_PER_MS + 1, (usec_t)INT32_MAX);
}

/* The report is read once the cell is dead, or a live interpreter's frozen: nobody can change it
 * under the parser. It is written from its start on, and most runs tell a few bytes or nothing:
 * what was never touched is a hole, and reading that would cost more than the rest of a live call.
 */
static void report_read(struct run *run)
{
	AUTO_FREE char *bytes = NULL;
	off_t size = lseek(run->report_fd, 0, SEEK_HOLE);
	ssize_t n;

	if (size <= 0)
		return;
	bytes = xmalloc((size_t)size);
	n = pread(run->report_fd, bytes, (size_t)size, 0);
	if (n > 0)
		(void)buf_add(&run->report_bytes, bytes, (size_t)n);
	report_parse(buf_get_cstr(&run->report_bytes), run->report_bytes.len, &run->report);
}

static int poll_once(struct run *run, int wake_fd)
{
	/* Who is to hear of the start hears of it before the first output. */
	bool is_early = run->state == RUN_STARTING && run->on_started;
	/* After ENDED the connection is of no interest; poll skips a negative descriptor. */
	struct pollfd set[] = {
		{ .fd = run->state == RUN_ENDED ? -1 : run->jaild->fd, .events = POLLIN },
		{ .fd = is_early ? -1 : run->fds[RUN_STDOUT], .events = POLLIN },
		{ .fd = is_early ? -1 : run->fds[RUN_STDERR], .events = POLLIN },
		{ .fd = wake_fd, .events = POLLIN },
		{ .fd = run->hangup_fd, .events = POLLRDHUP },
	};
	bool is_kept = run->state == RUN_ENDED && run->ended.is_kept; /* empty pipes are no event */
	int wait_ms = is_kept ? 0 : timeout_ms(run);
	int n = poll(set, ARRAY_SIZE(set), wait_ms);

	if (n < 0)
		return errno == EINTR ? 0 : run_fail(run, -errno, "waiting for the run failed");
	/* A script that prints without end must not hide that jaild is stuck; one whose end is told
	 * already has its last bytes read, however late we are. */
	if ((n == 0 && !is_kept) || (wait_ms == 0 && run->state != RUN_ENDED && !set[0].revents))
		give_up(run);
	if (set[1].revents || is_kept)
		drain(run, RUN_STDOUT);
	if (set[2].revents || is_kept)
		drain(run, RUN_STDERR);
	if (set[0].revents) {
		(void)jaild_dispatch(run->jaild);
		if (run->state == RUN_RUNNING && run->is_cancelled)
			(void)jaild_run_cancel(run->jaild, run->started.run);
	}
	end_look(run);
	return set[3].revents || set[4].revents ? RUN_WOKEN : 0;
}

int run_wait(struct run *run, int wake_fd)
{
	while (!is_over(run)) {
		int r = poll_once(run, wake_fd);

		if (r < 0)
			return r;
		if (r == RUN_WOKEN && !is_over(run))
			return RUN_WOKEN;
	}
	if (run->state == RUN_FAILED)
		return -ECANCELED;
	report_read(run);
	return RUN_OVER;
}

uint64_t run_start_us(const struct run *run)
{
	const struct wire_run_started *started = &run->started;
	uint64_t accepted_us = started->at_us - started->start_us;
	uint64_t begun_us = run->report.begun_us;

	if (begun_us == 0)
		return started->start_us;
	if (begun_us <= accepted_us)
		return 0;
	return MIN(begun_us - accepted_us, started->start_us + run->ended.wall_us);
}

void run_cancel(struct run *run)
{
	if (run->is_cancelled)
		return;
	run->is_cancelled = true;
	/* An error is ESRCH, when it ended by itself meanwhile, or a lost jaild, which the run
	 * sees. */
	if (run->state == RUN_RUNNING)
		(void)jaild_run_cancel(run->jaild, run->started.run);
}

void run_fini(struct run *run)
{
	if (run->jaild)
		jaild_unwatch(run->jaild, &run->watch);
	for (int i = 0; i < RUN_STREAM_MAX; i++) {
		run->fds[i] = fd_close(run->fds[i]);
		output_fini(&run->output[i]);
	}
	held_close(run);
	run->report_fd = fd_close(run->report_fd);
	buf_fini(&run->report_bytes);
}
