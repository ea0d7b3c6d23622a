#include "jailed.h"

#include "base/macro.h"
#include "base/str.h"
#include "sandbox/profile.h"
#include "sandbox/run.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

/*
 * Everything goes through the library that `cloche run` uses, so its own work (package, pipes,
 * report) is in the figures. Many at once are one thread over one connection: its messages drive
 * all of the runs.
 */

int jailed_start(struct jailed *jailed, const char *program)
{
	struct jaild_options options = { .program = program };
	int r = profile_get(PROFILE_DEFAULT, &jailed->limits, &jailed->jaild.fault);

	return r < 0 ? r : jaild_start(&jailed->jaild, &options);
}

int jailed_open(struct jailed *jailed)
{
	char key[32];
	int r = 0;

	for (unsigned i = 0; i < JAILED_WIDTH_MAX && r == 0; i++) {
		(void)str_format(key, sizeof(key), "bench-%u", i);
		r = jaild_session_open(&jailed->jaild, key, &jailed->limits, &jailed->sessions[i]);
	}
	return r;
}

void jailed_stop(struct jailed *jailed)
{
	jaild_stop(&jailed->jaild);
}

/* Starts a run; run_fini is the caller's, also after an error. */
static int start(
	struct jailed *jailed, const struct package *package, uint64_t session, struct run *run)
{
	struct run_request request = {
		.session = session, .limit_ms = jailed->limits.wall_ms, .package = package
	};

	run_init(run);
	return run_start(run, &jailed->jaild, &request);
}

/* Waits for the end of a run that has been started. */
static int finish(struct jailed *jailed, struct run *run)
{
	int r = run_wait(run, -1);

	if (r < 0) {
		jailed->jaild.fault = run->fault;
		return r;
	}
	return run->ended.end == WIRE_END_EXIT && run->ended.code == 0 ? 0 : -ECANCELED;
}

static int run_in(struct jailed *jailed, const struct package *package, uint64_t session,
	struct jailed_times *ret_times)
{
	struct run run;
	int r = start(jailed, package, session, &run);

	if (r == 0)
		r = finish(jailed, &run);
	ret_times->start_us = run.started.start_us;
	ret_times->wall_us = run.ended.wall_us;
	run_fini(&run);
	return r;
}

int jailed_run(struct jailed *jailed, const struct package *package, struct jailed_times *ret_times)
{
	usec_t start_us = clock_now_us();
	int r = run_in(jailed, package, jailed->sessions[0], ret_times);

	ret_times->all_us = clock_now_us() - start_us;
	return r;
}

int jailed_run_in_new_session(
	struct jailed *jailed, const struct package *package, struct jailed_times *ret_times)
{
	usec_t start_us = clock_now_us();
	uint64_t session;
	int r, closed;

	r = jaild_session_open(&jailed->jaild, "bench-new", &jailed->limits, &session);
	if (r < 0)
		return r;
	r = run_in(jailed, package, session, ret_times);
	closed = jaild_session_close(&jailed->jaild, session);
	ret_times->all_us = clock_now_us() - start_us;
	return r < 0 ? r : closed;
}

/* Asks now and then: jaild builds while nobody asks. */
static int spare_await(struct jailed *jailed)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	struct wire_status_is status = { 0 };
	int r = jaild_spares(&jailed->jaild, 1, &jailed->limits);

	for (int i = 0; i < 200 && r == 0 && status.spares == 0; i++) {
		(void)nanosleep(&pause, NULL);
		r = jaild_status(&jailed->jaild, &status);
	}
	return r == 0 && status.spares == 0 ? -ETIMEDOUT : r;
}

int jailed_run_in_spare_session(
	struct jailed *jailed, const struct package *package, struct jailed_times *ret_times)
{
	int r = spare_await(jailed);

	if (r == 0)
		r = jailed_run_in_new_session(jailed, package, ret_times);
	return r < 0 ? r : jaild_spares(&jailed->jaild, 0, &jailed->limits);
}

static bool is_over(const struct run *run)
{
	return run->state == RUN_ENDED || run->state == RUN_FAILED;
}

/* Waits for a message and finishes every run that it ends. Returns how many, or -errno. */
static int step(struct jailed *jailed, struct run *runs, unsigned width)
{
	struct pollfd pollfd = { .fd = jailed->jaild.fd, .events = POLLIN };
	int ended = 0, r;

	if (poll(&pollfd, 1, JAILD_ANSWER_MS) <= 0)
		return -ETIMEDOUT;
	r = jaild_dispatch(&jailed->jaild);
	for (unsigned i = 0; i < width && r == 0; i++) {
		if (!is_over(&runs[i]))
			continue;
		r = finish(jailed, &runs[i]);
		run_fini(&runs[i]);
		run_init(&runs[i]);
		ended++;
	}
	return r < 0 ? r : ended;
}

/* Starts a run at every place that is free. */
static int fill(struct jailed *jailed, const struct package *package, struct run *runs,
	unsigned width, unsigned *count)
{
	int r = 0;

	for (unsigned i = 0; i<width && * count> 0 && r == 0; i++) {
		if (runs[i].state != RUN_IDLE)
			continue;
		r = start(jailed, package, jailed->sessions[i], &runs[i]);
		(*count)--;
	}
	return r;
}

int jailed_run_many(struct jailed *jailed, const struct package *package, unsigned width,
	unsigned count, usec_t *ret_us)
{
	static struct run runs[JAILED_WIDTH_MAX]; /* with their outputs: too large for a frame */
	usec_t start_us = clock_now_us();
	unsigned left = count;
	int r = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(runs); i++)
		run_init(&runs[i]);
	while (left > 0 && r >= 0) {
		r = fill(jailed, package, runs, MIN(width, (unsigned)ARRAY_SIZE(runs)), &count);
		if (r < 0)
			break;
		r = step(jailed, runs, (unsigned)ARRAY_SIZE(runs));
		left -= r > 0 ? (unsigned)r : 0;
	}
	*ret_us = clock_now_us() - start_us;
	for (unsigned i = 0; i < ARRAY_SIZE(runs); i++)
		run_fini(&runs[i]);
	return r < 0 ? r : 0;
}
