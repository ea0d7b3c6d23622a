#pragma once

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The event loop of jaild: descriptors and deadlines, both embedded in what they belong to; the
 * callback finds its owner with container_of. One thread, no priorities.
 */

struct watch {
	int fd; /* borrowed; -1: not watched */
	void (*on_ready)(struct watch *watch);
};

struct timer {
	usec_t due_us; /* CLOCK_MONOTONIC; 0: not set */
	void (*on_due)(struct timer *timer);
	struct timer *next;
};

struct loop {
	int epoll_fd;
	struct timer *timers; /* unordered: there are a few per session */
	bool is_over;
};

/* Returns 0 or -errno. */
int loop_init(struct loop *loop);

/* Watches fd for reading (and hanging up). Returns 0 or -errno. */
int loop_watch(
	struct loop *loop, struct watch *watch, int fd, void (*on_ready)(struct watch *watch));
void loop_unwatch(struct loop *loop, struct watch *watch);

/* Calls on_due once, in delay_us from now; a timer that is set already is moved. */
void loop_timer_set(struct loop *loop, struct timer *timer, usec_t delay_us,
	void (*on_due)(struct timer *timer));
void loop_timer_clear(struct loop *loop, struct timer *timer);

/* Runs until loop->is_over. Returns 0 or -errno of epoll_wait(2). */
int loop_run(struct loop *loop);
