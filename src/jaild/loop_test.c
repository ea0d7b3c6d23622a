#include "jaild/loop.h"

#include "base/fd.h"
#include "base/macro.h"

#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct loop loop;
/* Each callback adds its letter, so that a test reads the order of events. */
static char story[32];

static void told(char letter)
{
	size_t n = strlen(story);

	assert_true(n < sizeof(story) - 1);
	story[n] = letter;
}

static int loop_begin(void **state)
{
	memset(story, 0, sizeof(story));
	return loop_init(&loop);
}

static int loop_stop(void **state)
{
	loop.epoll_fd = fd_close(loop.epoll_fd);
	return 0;
}

struct named_timer {
	struct timer timer;
	char letter;
};

static void on_letter(struct timer *timer)
{
	told(container_of(timer, struct named_timer, timer)->letter);
	assert_int_equal(timer->due_us, 0);
}

static void on_over(struct timer *timer)
{
	told('.');
	loop.is_over = true;
}

struct pipe_watch {
	struct watch watch;
	int fds[2];
	char letter;
	struct pipe_watch *other;
};

static void pipe_open(struct pipe_watch *p, char letter, void (*on_ready)(struct watch *watch))
{
	assert_int_equal(pipe2(p->fds, O_CLOEXEC | O_NONBLOCK), 0);
	p->letter = letter;
	p->watch.fd = -1;
	assert_int_equal(loop_watch(&loop, &p->watch, p->fds[0], on_ready), 0);
}

static void pipe_end(struct pipe_watch *p)
{
	loop_unwatch(&loop, &p->watch);
	(void)fd_close(p->fds[0]);
	(void)fd_close(p->fds[1]);
}

static void on_byte(struct watch *watch)
{
	struct pipe_watch *p = container_of(watch, struct pipe_watch, watch);
	char c;

	assert_int_equal(read(p->fds[0], &c, 1), 1);
	told(c);
	if (c == '.')
		loop.is_over = true;
}

static void test_the_descriptor_is_close_on_exec(void **state)
{
	assert_true(fcntl(loop.epoll_fd, F_GETFD) & FD_CLOEXEC);
	assert_null(loop.timers);
}

static void test_timers_come_in_the_order_of_their_times(void **state)
{
	struct named_timer a = { .letter = 'a' }, b = { .letter = 'b' }, c = { .letter = 'c' };
	struct timer over = { 0 };

	loop_timer_set(&loop, &over, 30000, on_over);
	loop_timer_set(&loop, &b.timer, 10000, on_letter);
	loop_timer_set(&loop, &c.timer, 20000, on_letter);
	loop_timer_set(&loop, &a.timer, 0, on_letter);
	assert_int_equal(loop_run(&loop), 0);
	assert_string_equal(story, "abc.");
	assert_null(loop.timers);
}

static void test_a_timer_is_not_early(void **state)
{
	struct timer over = { 0 };
	usec_t start_us = clock_now_us();

	loop_timer_set(&loop, &over, 15500, on_over);
	assert_int_equal(loop_run(&loop), 0);
	assert_true(clock_now_us() - start_us >= 15500);
}

static void test_a_timer_that_is_set_again_is_moved(void **state)
{
	struct named_timer a = { .letter = 'a' }, b = { .letter = 'b' };
	struct timer over = { 0 };

	loop_timer_set(&loop, &a.timer, 1000, on_letter);
	loop_timer_set(&loop, &b.timer, 2000, on_letter);
	loop_timer_set(&loop, &over, 10000, on_over);
	loop_timer_set(&loop, &a.timer, 4000, on_letter);
	assert_int_equal(loop_run(&loop), 0);
	assert_string_equal(story, "ba.");
}

static void test_a_cleared_timer_does_not_come(void **state)
{
	struct named_timer a = { .letter = 'a' }, b = { .letter = 'b' }, c = { .letter = 'c' };
	struct timer over = { 0 };

	loop_timer_set(&loop, &a.timer, 1000, on_letter);
	loop_timer_set(&loop, &b.timer, 1000, on_letter);
	loop_timer_set(&loop, &c.timer, 1000, on_letter);
	loop_timer_set(&loop, &over, 5000, on_over);
	loop_timer_clear(&loop, &b.timer);
	loop_timer_clear(&loop, &b.timer); /* not set: nothing happens */
	assert_int_equal(b.timer.due_us, 0);
	assert_int_equal(loop_run(&loop), 0);
	assert_int_equal(strlen(story), 3);
	assert_null(strchr(story, 'b'));
}

struct clearing_timer {
	struct timer timer;
	struct timer *victim;
};

static void on_clear(struct timer *timer)
{
	told('x');
	loop_timer_clear(&loop, container_of(timer, struct clearing_timer, timer)->victim);
}

/* Both are due at once; the first to come takes the other one back, as a cell's end does. */
static void test_a_timer_that_is_due_can_be_cleared_by_another(void **state)
{
	struct named_timer victim = { .letter = 'v' };
	struct clearing_timer first = { .victim = &victim.timer };
	struct timer over = { 0 };

	loop_timer_set(&loop, &first.timer, 0, on_clear);
	(void)usleep(10);
	loop_timer_set(&loop, &victim.timer, 0, on_letter);
	loop_timer_set(&loop, &over, 3000, on_over);
	(void)usleep(10);
	assert_int_equal(loop_run(&loop), 0);
	assert_string_equal(story, "x.");
}

static int rounds;

static void on_again(struct timer *timer)
{
	told('r');
	if (++rounds == 3)
		loop.is_over = true;
	else
		loop_timer_set(&loop, timer, 1000, on_again);
}

static void test_a_timer_sets_itself_again(void **state)
{
	struct timer timer = { 0 };

	rounds = 0;
	loop_timer_set(&loop, &timer, 0, on_again);
	assert_int_equal(loop_run(&loop), 0);
	assert_string_equal(story, "rrr");
	assert_null(loop.timers);
}

static void on_freed(struct timer *timer)
{
	free(container_of(timer, struct named_timer, timer));
	told('f');
}

static void test_a_callback_may_free_its_timer(void **state)
{
	struct named_timer *own = calloc(1, sizeof(*own));
	struct timer over = { 0 };

	assert_non_null(own);
	loop_timer_set(&loop, &own->timer, 0, on_freed);
	loop_timer_set(&loop, &over, 1000, on_over);
	assert_int_equal(loop_run(&loop), 0);
	assert_string_equal(story, "f.");
}

static void test_watched_descriptors_call(void **state)
{
	struct pipe_watch p;

	pipe_open(&p, 'p', on_byte);
	assert_int_equal(write(p.fds[1], "ab.", 3), 3);
	assert_int_equal(loop_run(&loop), 0);
	assert_string_equal(story, "ab.");
	pipe_end(&p);
}

static void on_hang_up(struct watch *watch)
{
	told('h');
	loop.is_over = true;
}

static void test_a_hang_up_calls(void **state)
{
	struct pipe_watch p;

	pipe_open(&p, 'p', on_hang_up);
	p.fds[1] = fd_close(p.fds[1]);
	assert_int_equal(loop_run(&loop), 0);
	assert_string_equal(story, "h");
	pipe_end(&p);
}

/* Drops the other watch, whose event waits already, and its owner with it. */
static void on_drop_other(struct watch *watch)
{
	struct pipe_watch *p = container_of(watch, struct pipe_watch, watch);

	told(p->letter);
	pipe_end(p->other);
	free(p->other);
	loop_unwatch(&loop, watch);
	loop_unwatch(&loop, watch);
	assert_int_equal(watch->fd, -1);
}

static void test_an_event_of_a_watch_that_was_dropped_is_never_delivered(void **state)
{
	struct pipe_watch *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b)), *left;
	struct timer over = { 0 };

	assert_non_null(a);
	assert_non_null(b);
	pipe_open(a, 'd', on_drop_other);
	pipe_open(b, 'd', on_drop_other);
	a->other = b;
	b->other = a;
	assert_int_equal(write(b->fds[1], "x", 1), 1);
	assert_int_equal(write(a->fds[1], "x", 1), 1);
	loop_timer_set(&loop, &over, 5000, on_over);
	/* epoll hands out in the order of arrival: b drops a */
	left = b;
	assert_int_equal(loop_run(&loop), 0);
	assert_string_equal(story, "d.");
	pipe_end(left);
	free(left);
}

static void test_after_the_end_nothing_more_is_called(void **state)
{
	struct named_timer a = { .letter = 'a' };
	struct timer over = { 0 };
	struct pipe_watch p;

	pipe_open(&p, 'p', on_byte);
	assert_int_equal(write(p.fds[1], "x", 1), 1);
	loop_timer_set(&loop, &over, 0, on_over);
	loop_timer_set(&loop, &a.timer, 60 * USEC_PER_S, on_letter);
	assert_int_equal(loop_run(&loop), 0);
	assert_string_equal(story, ".");
	loop_timer_clear(&loop, &a.timer);
	assert_null(loop.timers);
	pipe_end(&p);
}

/* A descriptor that is ready over and over does not keep timers from their turn. */
static void on_busy(struct watch *watch)
{
}

static void test_a_busy_descriptor_does_not_starve_timers(void **state)
{
	struct timer over = { 0 };
	struct pipe_watch p;

	pipe_open(&p, 'p', on_busy);
	assert_int_equal(write(p.fds[1], "x", 1), 1);
	loop_timer_set(&loop, &over, 3000, on_over);
	assert_int_equal(loop_run(&loop), 0);
	assert_string_equal(story, ".");
	pipe_end(&p);
}

static void test_what_cannot_be_watched_is_an_error(void **state)
{
	struct watch watch = { .fd = -1 };

	assert_int_equal(loop_watch(&loop, &watch, -1, on_busy), -EBADF);
	assert_int_equal(watch.fd, -1);
	loop_unwatch(&loop, &watch);
}

#define WITH_LOOP(test) cmocka_unit_test_setup_teardown(test, loop_begin, loop_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LOOP(test_the_descriptor_is_close_on_exec),
		WITH_LOOP(test_timers_come_in_the_order_of_their_times),
		WITH_LOOP(test_a_timer_is_not_early),
		WITH_LOOP(test_a_timer_that_is_set_again_is_moved),
		WITH_LOOP(test_a_cleared_timer_does_not_come),
		WITH_LOOP(test_a_timer_that_is_due_can_be_cleared_by_another),
		WITH_LOOP(test_a_timer_sets_itself_again),
		WITH_LOOP(test_a_callback_may_free_its_timer),
		WITH_LOOP(test_watched_descriptors_call),
		WITH_LOOP(test_a_hang_up_calls),
		WITH_LOOP(test_an_event_of_a_watch_that_was_dropped_is_never_delivered),
		WITH_LOOP(test_after_the_end_nothing_more_is_called),
		WITH_LOOP(test_a_busy_descriptor_does_not_starve_timers),
		WITH_LOOP(test_what_cannot_be_watched_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
