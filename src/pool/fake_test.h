#pragma once

/*
 * A jaild for tests: a thread for each connection, answers of the right form, no jail. What a
 * script does is its code: "ok" ends at once, "wait" ends when it is cancelled or its session
 * closed, "crash" ends the connection, "refuse" is a failed stage, and any other text is printed.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/fd.h"
#include "base/str.h"
#include "jail/client/jaild.h"
#include "wire/channel.h"
#include "wire/package.h"
#include "wire/stage.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Not inline: each holds a message of 4 KiB. */
#define FAKE	 static __attribute__((noinline, unused))
#define FAKE_MAX 64 /* connections in its life */

struct fake {
	pthread_mutex_t mutex;
	unsigned sessions; /* open ones */
	unsigned opened;
	uint64_t closed; /* the last session that was closed */
	bool refuses_sessions;
	bool refuses_lists;
	int fds[FAKE_MAX];
	pthread_t threads[FAKE_MAX];
	unsigned n;
};

struct fake_connection {
	struct fake *fake;
	int fd;
};

FAKE void fake_say(int fd, union wire_any message, unsigned type, uint32_t seq, int sent)
{
	message.header =
		(struct wire_header){ .type = (uint16_t)type, .version = WIRE_VERSION, .seq = seq };
	(void)channel_send(fd, &message, wire_size(type), &sent, sent >= 0);
}

FAKE void fake_fail(int fd, int error, unsigned stage, uint32_t seq)
{
	fake_say(fd, (union wire_any){ .failed = { .error = error, .stage = stage } }, WIRE_FAILED,
		seq, -1);
}

/* The run waits for a cancel on its own connection, or for the closing of its session. */
FAKE void fake_wait(struct fake *fake, int fd, uint64_t session)
{
	bool is_over = false;

	while (!is_over) {
		struct pollfd set = { .fd = fd, .events = POLLIN };
		union wire_any request;
		int fds[CHANNEL_FDS_MAX];
		size_t n_fds;

		if (poll(&set, 1, 10) > 0) {
			if (channel_receive(fd, &request, sizeof(request), fds, &n_fds) <= 0)
				return;
			fake_say(fd, (union wire_any){ { 0 } }, WIRE_DONE, request.header.seq, -1);
			is_over = request.header.type == WIRE_RUN_CANCEL;
		}
		(void)pthread_mutex_lock(&fake->mutex);
		is_over = is_over || fake->closed == session;
		(void)pthread_mutex_unlock(&fake->mutex);
	}
}

FAKE bool fake_run(
	struct fake *fake, int fd, const union wire_any *request, int fds[CHANNEL_FDS_MAX])
{
	off_t size = lseek(fds[WIRE_RUN_PACKAGE], 0, SEEK_END);
	void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fds[WIRE_RUN_PACKAGE], 0);
	union wire_any ended = { .run_ended = { .run = 7, .end = WIRE_END_EXIT } };
	uint32_t seq = request->header.seq;
	struct package package;
	struct str code;
	bool goes_on = true;
	int r = package_parse(data, (size_t)size, &package);

	assert(r == 0);
	code = (struct str){ .p = package.code, .n = package.code_size };
	if (str_eq(code, STR("crash"))) {
		goes_on = false;
	} else if (str_eq(code, STR("refuse"))) {
		fake_fail(fd, EPERM, STAGE_SCRIPT_SECCOMP, seq);
	} else {
		fake_say(fd, (union wire_any){ .run_started = { .run = 7, .start_us = 1 } },
			WIRE_RUN_STARTED, seq, -1);
		if (str_eq(code, STR("wait"))) {
			fake_wait(fake, fd, request->run.session);
			ended.run_ended.end = WIRE_END_CANCELLED;
		} else if (!str_eq(code, STR("ok"))) {
			(void)fd_write_full(fds[WIRE_RUN_STDOUT], code.p, code.n);
		}
		fake_say(fd, ended, WIRE_RUN_ENDED, seq, -1);
	}
	(void)munmap(data, (size_t)size);
	return goes_on;
}

FAKE void fake_serve(struct fake *fake, int fd);

FAKE void *fake_main(void *argument)
{
	struct fake_connection connection = *(struct fake_connection *)argument;

	free(argument);
	fake_serve(connection.fake, connection.fd);
	return NULL;
}

/* A thread for the connection fd, which it owns. */
FAKE void fake_add(struct fake *fake, int fd)
{
	struct fake_connection *connection = xcalloc(1, sizeof(*connection));
	int r;

	*connection = (struct fake_connection){ .fake = fake, .fd = fd };
	(void)pthread_mutex_lock(&fake->mutex);
	assert(fake->n < FAKE_MAX);
	fake->fds[fake->n] = fd;
	r = pthread_create(&fake->threads[fake->n++], NULL, fake_main, connection);
	assert(r == 0);
	(void)pthread_mutex_unlock(&fake->mutex);
}

FAKE void fake_list(int fd, uint32_t seq)
{
	int memfd = -1;
	int r = fd_memfd_sealed("listing", "", 0, &memfd);

	assert(r == 0);
	fake_say(fd, (union wire_any){ .listing_is = { .entries = 0 } }, WIRE_LISTING_IS, seq,
		memfd);
	(void)fd_close(memfd);
}

/* One request. False: the connection is to end. */
FAKE bool fake_do(
	struct fake *fake, int fd, const union wire_any *request, int fds[CHANNEL_FDS_MAX])
{
	uint32_t seq = request->header.seq;
	union wire_any answer = { { 0 } };

	if (request->header.type == WIRE_RUN)
		return fake_run(fake, fd, request, fds);
	(void)pthread_mutex_lock(&fake->mutex);
	if (request->header.type == WIRE_SESSION_OPEN && fake->refuses_sessions) {
		fake_fail(fd, EPERM, STAGE_SESSION_HOME, seq);
	} else if (request->header.type == WIRE_SESSION_OPEN) {
		fake->sessions++;
		answer.session_is.session = ++fake->opened;
		fake_say(fd, answer, WIRE_SESSION_IS, seq, -1);
	} else if (request->header.type == WIRE_SESSION_CLOSE) {
		fake->sessions--;
		fake->closed = request->session_close.session;
		fake_say(fd, answer, WIRE_DONE, seq, -1);
	} else if (request->header.type == WIRE_STATUS) {
		answer.status_is.protections = WIRE_PROTECT_ALL;
		fake_say(fd, answer, WIRE_STATUS_IS, seq, -1);
	} else if (request->header.type == WIRE_LIST && !fake->refuses_lists) {
		fake_list(fd, seq);
	} else if (request->header.type != WIRE_ATTACH) {
		fake_fail(fd, ENOENT, STAGE_NONE, seq);
	}
	(void)pthread_mutex_unlock(&fake->mutex);
	if (request->header.type == WIRE_ATTACH) {
		fake_add(fake, TAKE_FD(fds[0]));
		fake_say(fd, answer, WIRE_DONE, seq, -1);
	}
	return true;
}

FAKE void fake_serve(struct fake *fake, int fd)
{
	bool goes_on = true;

	while (goes_on) {
		union wire_any request;
		int fds[CHANNEL_FDS_MAX];
		size_t n_fds;

		if (channel_receive(fd, &request, sizeof(request), fds, &n_fds) <= 0)
			break;
		goes_on = fake_do(fake, fd, &request, fds);
		channel_close_fds(fds, n_fds);
	}
	(void)shutdown(fd, SHUT_RDWR);
}

/* Starts one; returns the client's first connection, on which it has said that it is ready. */
FAKE int fake_start(struct fake *fake)
{
	int pair[2], r = channel_pair(pair);

	assert(r == 0);
	*fake = (struct fake){ .n = 0 };
	(void)pthread_mutex_init(&fake->mutex, NULL);
	fake_say(pair[1], (union wire_any){ { 0 } }, WIRE_DONE, 0, -1);
	fake_add(fake, pair[1]);
	return pair[0];
}

/* It dies: every connection ends, and its threads with them. */
FAKE void fake_stop(struct fake *fake)
{
	for (unsigned i = 0; i < fake->n; i++)
		(void)shutdown(fake->fds[i], SHUT_RDWR);
	for (unsigned i = 0; i < fake->n; i++) {
		(void)pthread_join(fake->threads[i], NULL);
		fake->fds[i] = fd_close(fake->fds[i]);
	}
	(void)pthread_mutex_destroy(&fake->mutex);
}
