/*
 * Theory of operation: the main thread's whole life. Messages of `up` are rare: new tokens, a new
 * jaild after one that died. A message that is none ends us: `up` is of our own build.
 */
#include "supervisor/control.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/thread.h"
#include "call/spares.h"
#include "call/warm.h"
#include "house/canary.h"
#include "house/house.h"
#include "supervisor/supervisor.h"
#include "wire/channel.h"
#include "wire/control.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#define READY_POLL_MS 20 /* until all is ready: a start is not prolonged by it */

static int jaild_take(struct supervisor *supervisor, int fd)
{
	struct fault fault = { 0 };
	int r = house_attach(supervisor->house, fd, &fault);

	if (r < 0)
		log_error("msg=\"no jail daemon\" stage=%s cause=%s", LOG_VALUE(fault.stage),
			LOG_VALUE(fault.text));
	else
		spares_ask(house_pool_get(supervisor->house), (unsigned)supervisor->settings.spares,
			supervisor->settings.profile);
	if (r == 0 && supervisor->canary)
		canary_wake(supervisor->canary);
	/* `up` sees its end and brings another one. */
	return 0;
}

/* Which sessions an earlier supervisor had. Without it clients are told less; we serve all the
 * same.
 */
static int known_take(struct supervisor *supervisor, int fd)
{
	int r = house_inherit(supervisor->house, fd);

	if (r < 0)
		log_error("msg=\"sessions of before are not known\" error=%s",
			LOG_VALUE(strerror(-r)));
	return 0;
}

static int tokens_take(struct supervisor *supervisor, int fd)
{
	int r = keyring_replace(&supervisor->keyring, fd);

	if (r < 0)
		log_error("msg=\"tokens not taken\" error=%s", LOG_VALUE(strerror(-r)));
	return r;
}

/* Receives one message and does what it says, but for START, whose descriptors go to fds. Returns
 * its type, or -errno. */
static int control_take(
	struct supervisor *supervisor, int control_fd, int fds[CHANNEL_FDS_MAX], size_t *ret_n_fds)
{
	struct control control;
	ssize_t n = channel_receive(control_fd, &control, sizeof(control), fds, ret_n_fds);
	int r = 0;

	if (n <= 0)
		return n < 0 ? (int)n : -ECONNRESET;
	if (control_check(&control, n, *ret_n_fds) < 0) {
		channel_close_fds(fds, *ret_n_fds);
		return -EBADMSG;
	}
	switch (control.type) {
	case CONTROL_START:
		supervisor->owner_uid = control.owner_uid;
		return CONTROL_START;
	case CONTROL_JAILD:
		r = jaild_take(supervisor, TAKE_FD(fds[0]));
		break;
	case CONTROL_KNOWN:
		r = known_take(supervisor, TAKE_FD(fds[0]));
		break;
	case CONTROL_TOKENS:
		r = tokens_take(supervisor, fds[0]);
		break;
	case CONTROL_AUDIT:
		audit_open(&supervisor->audit, TAKE_FD(fds[0]));
		break;
	default:
		r = -EBADMSG;
	}
	channel_close_fds(fds, *ret_n_fds);
	return r < 0 ? r : (int)control.type;
}

int control_begin(struct supervisor *supervisor, int control_fd, int *ret_fds)
{
	static const int expected[] = { CONTROL_START, CONTROL_KNOWN, CONTROL_TOKENS,
		CONTROL_JAILD };
	int listeners = 0;

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		int fds[CHANNEL_FDS_MAX];
		size_t n_fds = 0;
		int r = control_take(supervisor, control_fd, fds, &n_fds);

		if (r != expected[i])
			return r < 0 ? r : -EBADMSG;
		if (r != CONTROL_START)
			continue;
		audit_open(&supervisor->audit, fds[0]);
		listeners = (int)n_fds - 1;
		memcpy(ret_fds, fds + 1, (size_t)listeners * sizeof(fds[0]));
	}
	return listeners;
}

static void *probe_main(void *argument)
{
	const struct timespec pause = { .tv_nsec = (long)(READY_POLL_MS * USEC_PER_MS * 1000) };
	const usec_t began_us = clock_now_us();
	struct supervisor *supervisor = argument;

	info_find(&supervisor->info, supervisor->house);
	while (!warm_is_settled(supervisor->house, (unsigned)supervisor->settings.spares, began_us))
		(void)nanosleep(&pause, NULL);
	atomic_store(&supervisor->is_warm, true);
	return NULL;
}

/* What the jail holds, and whether what is made ahead is there, is asked in a thread of its own: a
 * slow jail must not keep `up` waiting for us. */
static int probe_start(struct supervisor *supervisor)
{
	pthread_t thread;
	int r = thread_create(&thread, probe_main, supervisor);

	return r < 0 ? r : -pthread_detach(thread);
}

static int ready_tell(int control_fd)
{
	const struct control ready = { .type = CONTROL_READY };

	return channel_send(control_fd, &ready, sizeof(ready), NULL, 0);
}

int control_serve(struct supervisor *supervisor, int control_fd, int signal_fd)
{
	bool is_probing = false, is_told = false;

	for (;;) {
		struct pollfd polls[] = {
			{ .fd = signal_fd, .events = POLLIN },
			{ .fd = control_fd, .events = POLLIN },
		};
		int fds[CHANNEL_FDS_MAX];
		size_t n_fds = 0;
		int r = 0;

		(void)poll(polls, ARRAY_SIZE(polls), is_told ? -1 : READY_POLL_MS);
		if (polls[0].revents)
			return 0;
		if (polls[1].revents)
			r = control_take(supervisor, control_fd, fds, &n_fds);
		if (r >= 0 && !is_probing && canary_is_ready(supervisor->canary)) {
			is_probing = true;
			r = probe_start(supervisor);
		}
		if (r >= 0 && !is_told && atomic_load(&supervisor->is_warm)) {
			is_told = true;
			r = ready_tell(control_fd);
		}
		if (r < 0)
			return r;
	}
}
