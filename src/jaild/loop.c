#include "jaild/loop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>

/*
 * A callback may end watches that have an event waiting in the same batch. So one event is taken at
 * a time: epoll_wait(2) with room for one costs a system call more under load and removes a whole
 * kind of mistake.
 */

int loop_init(struct loop *loop)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return -errno;
	*loop = (struct loop){ .epoll_fd = fd };
	return 0;
}

int loop_watch(
	struct loop *loop, struct watch *watch, int fd, void (*on_ready)(struct watch *watch))
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return -errno;
	watch->fd = fd;
	watch->on_ready = on_ready;
	return 0;
}

void loop_unwatch(struct loop *loop, struct watch *watch)
{
	if (watch->fd < 0)
		return;
	(void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
	watch->fd = -1;
}

void loop_timer_clear(struct loop *loop, struct timer *timer)
{
	for (struct timer **at = &loop->timers; *at; at = &(*at)->next) {
		if (*at == timer) {
			*at = timer->next;
			break;
		}
	}
	timer->due_us = 0;
}

void loop_timer_set(struct loop *loop, struct timer *timer, usec_t delay_us,
	void (*on_due)(struct timer *timer))
{
	loop_timer_clear(loop, timer);
	timer->due_us = clock_now_us() + delay_us;
	timer->on_due = on_due;
	timer->next = loop->timers;
	loop->timers = timer;
}

/* The timer that is due first, NULL if none is set. */
static struct timer *timer_first(const struct loop *loop)
{
	struct timer *first = loop->timers;

	for (struct timer *timer = first; timer; timer = timer->next) {
		if (timer->due_us < first->due_us)
			first = timer;
	}
	return first;
}

/* Runs what is due; returns the milliseconds until the next one, -1 without any. */
static int timers_run(struct loop *loop)
{
	struct timer *timer;

	while ((timer = timer_first(loop))) {
		usec_t now = clock_now_us();

		if (timer->due_us > now)
			return (int)((timer->due_us - now) / 1000) + 1;
		loop_timer_clear(loop, timer);
		timer->on_due(timer);
	}
	return -1;
}

int loop_run(struct loop *loop)
{
	while (!loop->is_over) {
		struct epoll_event event;
		int wait_ms = timers_run(loop);
		int n = loop->is_over ? 0 : epoll_wait(loop->epoll_fd, &event, 1, wait_ms);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 1) {
			struct watch *watch = event.data.ptr;

			watch->on_ready(watch);
		}
	}
	return 0;
}
