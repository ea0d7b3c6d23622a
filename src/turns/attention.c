/*
 * Theory of operation: the reasons are a set in an atomic; the eventfd only says "look". A
 * connection that is gone stays readable for ever, so it is forgotten once that is known. Whoever
 * waits polls both: an epoll descriptor over the two would be one, and costs as much as all else
 * here.
 */
#include "turns/attention.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int attention_init(struct attention *attention, int client_fd)
{
	*attention = (struct attention){ .client_fd = client_fd };
	attention->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return attention->event_fd < 0 ? -errno : 0;
}

void attention_fini(struct attention *attention)
{
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
	struct pollfd set[] = { { .fd = attention->event_fd, .events = POLLIN },
		/* Half-close counts as gone: decision 30. Errors and hang-ups are told unasked. */
		{ .fd = attention->client_fd, .events = POLLRDHUP } };
	usec_t ms = (timeout_us + USEC_PER_MS - 1) / USEC_PER_MS;

	(void)poll(set, ARRAY_SIZE(set), (int)MIN(ms, (usec_t)INT32_MAX));
	return attention_take(attention);
}
