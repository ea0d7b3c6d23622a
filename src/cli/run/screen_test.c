#include "cli/run/screen.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Our stdout becomes a pipe for the length of a test; cmocka's own lines go where they went. */
struct scene {
	struct screen screen;
	int saved;
	int reader;
};

static void scene_start(struct scene *scene)
{
	int pair[2];

	(void)signal(SIGPIPE, SIG_IGN);
	scene->saved = fd_dup_above(STDOUT_FILENO, 10);
	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	assert_true(dup2(pair[1], STDOUT_FILENO) >= 0);
	(void)fd_close(pair[1]);
	scene->reader = pair[0];
	assert_int_equal(screen_init(&scene->screen, 1000), 0);
}

static void scene_end(struct scene *scene)
{
	screen_fini(&scene->screen);
	assert_true(dup2(scene->saved, STDOUT_FILENO) >= 0);
	(void)fd_close(scene->saved);
	(void)fd_close(scene->reader);
}

static bool is_woken(const struct scene *scene)
{
	struct pollfd pollfd = { .fd = scene->screen.wake_fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1;
}

static void test_bytes_go_through_as_they_are(void **state)
{
	struct scene scene;
	char text[16];

	scene_start(&scene);
	assert_int_equal(screen_show(&scene.screen, RUN_STDOUT, STR("a\0\xff\n")), 0);
	assert_int_equal(read(scene.reader, text, sizeof(text)), 4);
	assert_memory_equal(text, "a\0\xff\n", 4);
	assert_false(is_woken(&scene));
	scene_end(&scene);
}

/* More than a pipe holds, and nobody reads: it waits in the queue, and all of it comes in the end.
 */
static void test_a_slow_reader_blocks_nothing(void **state)
{
	AUTO_FREE char *block = xmalloc(1 << 20);
	struct scene scene;
	size_t sum = 0;

	memset(block, 'x', 1 << 20);
	scene_start(&scene);
	for (int i = 0; i < 4; i++)
		assert_int_equal(
			screen_show(&scene.screen, RUN_STDOUT, (struct str){ block, 1 << 20 }), 0);
	assert_false(is_woken(&scene));
	while (sum < 4 << 20) {
		ssize_t n = read(scene.reader, block, 1 << 20);

		assert_true(n > 0);
		sum += (size_t)n;
		if (sum < 4 << 20) {
			assert_true(is_woken(&scene));
			assert_int_equal(screen_turn(&scene.screen), 0);
		}
	}
	assert_false(is_woken(&scene));
	scene_end(&scene);
}

static void test_a_reader_that_left_is_told(void **state)
{
	struct scene scene;

	scene_start(&scene);
	scene.reader = fd_close(scene.reader);
	assert_int_equal(screen_show(&scene.screen, RUN_STDOUT, STR("x")), -EPIPE);
	assert_int_equal(screen_show(&scene.screen, RUN_STDOUT, STR("x")), -EPIPE);
	assert_false(is_woken(&scene));
	scene_end(&scene);
}

static void test_a_reader_that_leaves_bytes_behind_wakes_once(void **state)
{
	AUTO_FREE char *block = xmalloc(1 << 20);
	struct scene scene;

	memset(block, 'x', 1 << 20);
	scene_start(&scene);
	assert_int_equal(screen_show(&scene.screen, RUN_STDOUT, (struct str){ block, 1 << 20 }), 0);
	scene.reader = fd_close(scene.reader);
	assert_true(is_woken(&scene));
	assert_int_equal(screen_turn(&scene.screen), 0);
	assert_false(is_woken(&scene));
	assert_int_equal(screen_show(&scene.screen, RUN_STDOUT, STR("x")), -EPIPE);
	scene_end(&scene);
}

static void test_a_signal_wakes_and_is_told_once(void **state)
{
	struct scene scene;

	scene_start(&scene);
	assert_int_equal(raise(SIGINT), 0);
	assert_true(is_woken(&scene));
	assert_int_equal(screen_turn(&scene.screen), SIGINT);
	assert_int_equal(screen_turn(&scene.screen), 0);
	scene_end(&scene);
}

static void test_a_signal_that_is_ignored_stays_so(void **state)
{
	struct scene scene;

	(void)signal(SIGHUP, SIG_IGN);
	scene_start(&scene);
	assert_int_equal(raise(SIGHUP), 0);
	assert_false(is_woken(&scene));
	scene_end(&scene);
	(void)signal(SIGHUP, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_go_through_as_they_are),
		cmocka_unit_test(test_a_slow_reader_blocks_nothing),
		cmocka_unit_test(test_a_reader_that_left_is_told),
		cmocka_unit_test(test_a_reader_that_leaves_bytes_behind_wakes_once),
		cmocka_unit_test(test_a_signal_wakes_and_is_told_once),
		cmocka_unit_test(test_a_signal_that_is_ignored_stays_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
