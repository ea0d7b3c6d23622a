/*
 * Theory of operation: an epoll descriptor over an eventfd and the client's connection is itself
 * readable when either has something to say, so that run_wait and poll need one descriptor only.
 * The reasons are a set in an atomic; the eventfd only says "look". A connection that is gone stays
 * readable for ever, so it is taken out once that is known.
 */
#include "turns/attention.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int watch(struct attention *attention, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(attention->fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int attention_init(struct attention *attention, int client_fd)
{
	int r;

	*attention = (struct attention){ .client_fd = client_fd };
	attention->fd = epoll_create1(EPOLL_CLOEXEC);
	attention->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = attention->fd < 0 || attention->event_fd < 0 ? -errno : 0;
	if (r == 0)
		r = watch(attention, attention->event_fd, EPOLLIN);
	/* Half-close counts as gone: decision 30. Errors and hang-ups are told unasked. */
	if (r == 0 && client_fd >= 0)
		r = watch(attention, client_fd, EPOLLRDHUP);
	if (r < 0)
		attention_fini(attention);
	return r;
}

void attention_fini(struct attention *attention)
{
	attention->fd = fd_close(attention->fd);
	attention->event_fd = fd_close(attention->event_fd);
	attention->client_fd = -1;
}

void attention_raise(struct attention *attention, enum attention_reason reason)
{
	uint64_t one = 1;

	(void)atomic_fetch_or(&attention->reasons, (uint32_t)reason);
	/* The only error is a count that is full: then it is readable already. */
	while (write(attention->event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* Finds out whether the client is gone, and forgets its connection then. */
static void client_check(struct attention *attention)
{
	struct pollfd client = { .fd = attention->client_fd, .events = POLLRDHUP };

	if (attention->client_fd < 0 || poll(&client, 1, 0) <= 0)
		return;
	(void)epoll_ctl(attention->fd, EPOLL_CTL_DEL, attention->client_fd, NULL);
	attention->client_fd = -1;
	(void)atomic_fetch_or(&attention->reasons, (uint32_t)ATTENTION_GONE);
}

uint32_t attention_take(struct attention *attention)
{
	uint64_t count;

	while (read(attention->event_fd, &count, sizeof(count)) < 0 && errno == EINTR)
		;
	client_check(attention);
	return atomic_fetch_and(&attention->reasons, ~(uint32_t)ATTENTION_QUEUE);
}

uint32_t attention_wait(struct attention *attention, uint64_t timeout_us)
{
	struct pollfd set = { .fd = attention->fd, .events = POLLIN };
	usec_t ms = (timeout_us + USEC_PER_MS - 1) / USEC_PER_MS;

	(void)poll(&set, 1, (int)MIN(ms, (usec_t)INT32_MAX));
	return attention_take(attention);
}
