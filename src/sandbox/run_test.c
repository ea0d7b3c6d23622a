#include "sandbox/run.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/unit.h"
#include "wire/channel.h"
#include "wire/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* One run whose jaild is the test: it reads the request with its descriptors after run_start, and
 * writes what a script would, before run_wait. */
struct scene {
	struct jaild jaild;
	struct run run;
	int fd;			  /* jaild's end */
	int fds[CHANNEL_FDS_MAX]; /* what came with the request */
	uint64_t chunks;
	int chunk_result;
	int starts;
};

static int on_chunk(struct run *run, enum run_stream stream, struct str chunk)
{
	struct scene *scene = (struct scene *)(void *)((char *)run - offsetof(struct scene, run));

	scene->chunks++;
	return scene->chunk_result;
}

static void on_started(struct run *run)
{
	struct scene *scene = (struct scene *)(void *)((char *)run - offsetof(struct scene, run));

	scene->starts++;
}

/* Returns how many descriptors came. */
static size_t scene_request(struct scene *scene, const struct run_request *request)
{
	union wire_any message;
	size_t n_fds;
	int pair[2];

	memset(scene, 0, sizeof(*scene));
	assert_int_equal(channel_pair(pair), 0);
	jaild_attach(&scene->jaild, pair[0]);
	scene->fd = pair[1];
	run_init(&scene->run);
	assert_int_equal(run_start(&scene->run, &scene->jaild, request), 0);
	assert_int_equal(channel_receive(scene->fd, &message, sizeof(message), scene->fds, &n_fds),
		sizeof(struct wire_run));
	assert_int_equal(message.header.type, request->is_live ? WIRE_LIVE : WIRE_RUN);
	assert_int_equal(wire_check(&message, sizeof(struct wire_run), n_fds), 0);
	assert_int_equal(message.run.session, 4);
	assert_int_equal(message.run.wall_ms, 1000);
	return n_fds;
}

static void scene_start_in(struct scene *scene, enum package_language language, struct str input)
{
	const struct package package = { .language = language, .code = "x", .code_size = 1 };

	(void)scene_request(scene, &(struct run_request){ .session = 4,
					   .wall_ms = 1000,
					   .package = &package,
					   .stdin_bytes = input,
					   .on_chunk = on_chunk });
}

static void scene_start(struct scene *scene, struct str input)
{
	scene_start_in(scene, PACKAGE_PYTHON, input);
}

static void tell(struct scene *scene, union wire_any message, unsigned type, uint32_t seq)
{
	message.header =
		(struct wire_header){ .type = (uint16_t)type, .version = WIRE_VERSION, .seq = seq };
	assert_int_equal(channel_send(scene->fd, &message, wire_size(type), NULL, 0), 0);
}

static void tell_started(struct scene *scene)
{
	tell(scene,
		(union wire_any){ .run_started = { .run = 6, .start_us = 1500, .at_us = 1001500 } },
		WIRE_RUN_STARTED, 1);
}

static void tell_ended(struct scene *scene, uint32_t end, int code)
{
	tell(scene, (union wire_any){ .run_ended = { .run = 6, .end = end, .code = code } },
		WIRE_RUN_ENDED, 1);
}

static void script_says(struct scene *scene, int which, const char *text)
{
	assert_int_equal(fd_write_full(scene->fds[which], text, strlen(text)), 0);
}

/* The cell is dead: its descriptors are closed. */
static void script_dies(struct scene *scene)
{
	channel_close_fds(scene->fds, WIRE_RUN_FDS);
}

static void scene_end(struct scene *scene)
{
	script_dies(scene);
	run_fini(&scene->run);
	scene->fd = fd_close(scene->fd);
	jaild_stop(&scene->jaild);
}

static void kept(const struct run *run, enum run_stream stream, const char *expected)
{
	AUTO_BUF struct buf text = BUF_INIT(OUTPUT_TEXT_MAX(OUTPUT_HALF_BYTES));
	uint64_t dropped;

	assert_int_equal(output_text(&run->output[stream], &text, &dropped), 0);
	assert_string_equal(buf_get_cstr(&text), expected);
}

static void test_a_run_from_start_to_end(void **state)
{
	struct scene scene;

	scene_start(&scene, (struct str){ .p = NULL, .n = 0 });
	tell_started(&scene);
	script_says(&scene, WIRE_RUN_STDOUT, "42\n");
	script_says(&scene, WIRE_RUN_STDERR, "warned\n");
	tell_ended(&scene, WIRE_END_EXIT, 3);
	script_dies(&scene);
	assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
	kept(&scene.run, RUN_STDOUT, "42\n");
	kept(&scene.run, RUN_STDERR, "warned\n");
	assert_int_equal(scene.run.ended.code, 3);
	assert_int_equal(scene.run.started.start_us, 1500);
	assert_int_equal(scene.chunks, 2);
	assert_null(scene.jaild.watches);
	scene_end(&scene);
}

/* The time from acceptance, at 1,000,000 us, of a run of 70 us, by what its report says. */
static uint64_t start_us_of(uint64_t begun_ns, bool is_told)
{
	unsigned char record[] = { REPORT_BEGUN, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct scene scene;
	uint64_t us;

	for (int i = 0; i < 8; i++)
		record[5 + i] = (unsigned char)(begun_ns >> 8 * i);
	scene_start(&scene, (struct str){ .p = NULL, .n = 0 });
	tell_started(&scene);
	if (is_told)
		assert_int_equal(
			fd_write_full(scene.fds[WIRE_RUN_REPORT], (char *)record, sizeof(record)),
			0);
	tell(&scene, (union wire_any){ .run_ended = { .run = 6, .wall_us = 70 } }, WIRE_RUN_ENDED,
		1);
	script_dies(&scene);
	assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
	us = run_start_us(&scene.run);
	scene_end(&scene);
	return us;
}

static void test_the_first_instruction_is_within_the_run(void **state)
{
	assert_int_equal(start_us_of(0, false), 1500);
	assert_int_equal(start_us_of(1001542999, true), 1542);
	assert_int_equal(start_us_of(1000700000, true), 700); /* before jaild has noticed */
	/* lies */
	assert_int_equal(start_us_of(0, true), 1500);
	assert_int_equal(start_us_of(1000, true), 0);
	assert_int_equal(start_us_of(1000000000, true), 0);
	assert_int_equal(start_us_of(1001571000, true), 1570);
	assert_int_equal(start_us_of(UINT64_MAX, true), 1570);
}

/* A call without input, whose start comes with its end or before it. */
static void live_call(struct scene *scene, bool is_start_told)
{
	const struct package package = { .code = "x", .code_size = 1 };
	size_t n_fds = scene_request(scene, &(struct run_request){ .session = 4,
						    .wall_ms = 1000,
						    .package = &package,
						    .is_live = true,
						    .on_started = on_started });
	union wire_any ended = { .run_ended = { .run = 6, .wall_us = 70, .is_kept = 1 } };

	assert_int_equal(n_fds, WIRE_LIVE_STDIN);
	if (is_start_told) {
		tell_started(scene);
	} else {
		ended.run_ended.interpreter = WIRE_INTERPRETER_NEW;
		ended.run_ended.lost_before = WIRE_LOST_CRASH;
		ended.run_ended.start_us = 1400;
		ended.run_ended.at_us = 1001400;
	}
	assert_int_equal(fd_write_full(scene->fds[WIRE_LIVE_STDOUT], "out", 3), 0);
	tell(scene, ended, WIRE_RUN_ENDED, 1);
	assert_int_equal(run_wait(&scene->run, -1), RUN_OVER);
	assert_int_equal(scene->starts, 1);
	assert_int_equal(scene->run.started.run, 6);
	assert_int_equal(scene->run.output[RUN_STDOUT].bytes, 3);
}

static void test_the_end_of_a_live_call_may_tell_its_start(void **state)
{
	struct scene scene;

	live_call(&scene, true);
	assert_int_equal(run_start_us(&scene.run), 1500);
	scene_end(&scene);
	live_call(&scene, false);
	assert_int_equal(scene.run.started.interpreter, WIRE_INTERPRETER_NEW);
	assert_int_equal(scene.run.started.lost, WIRE_LOST_CRASH);
	assert_int_equal(run_start_us(&scene.run), 1400);
	scene_end(&scene);
}

/* Of what is asked of jaild behind the run, the type; WIRE_NONE: nothing. */
static unsigned asked_next(struct scene *scene)
{
	static union wire_any request; /* not on a stack that the sanitizer widens */
	struct pollfd set = { .fd = scene->fd, .events = POLLIN };
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;

	if (poll(&set, 1, 0) == 0)
		return WIRE_NONE;
	assert_true(channel_receive(scene->fd, &request, sizeof(request), fds, &n_fds) > 0);
	if (request.header.type == WIRE_RUN_LOOK)
		assert_int_equal(request.run_look.run, 6);
	return request.header.type;
}

/* A script that may be a copy: both its streams have ended, jaild has not said anything. */
static void test_jaild_is_asked_once_to_look_at_the_end_of_both_streams(void **state)
{
	struct scene scene;
	int wake[2];

	assert_int_equal(pipe2(wake, O_CLOEXEC), 0);
	assert_int_equal(write(wake[1], "x", 1), 1);
	scene_start(&scene, STR(""));
	script_says(&scene, WIRE_RUN_STDOUT, "42\n");
	scene.fds[WIRE_RUN_STDOUT] = fd_close(scene.fds[WIRE_RUN_STDOUT]);
	tell_started(&scene);
	for (int i = 0; i < 3; i++)
		assert_int_equal(run_wait(&scene.run, wake[0]), RUN_WOKEN);
	assert_int_equal(asked_next(&scene), WIRE_NONE); /* the other one is open */
	scene.fds[WIRE_RUN_STDERR] = fd_close(scene.fds[WIRE_RUN_STDERR]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(run_wait(&scene.run, wake[0]), RUN_WOKEN);
	assert_int_equal(asked_next(&scene), WIRE_RUN_LOOK);
	assert_int_equal(asked_next(&scene), WIRE_NONE);
	tell_ended(&scene, WIRE_END_EXIT, 0);
	assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
	kept(&scene.run, RUN_STDOUT, "42\n");
	channel_close_fds(wake, 2);
	scene_end(&scene);
}

/* There is nobody to look at before the start has been told. */
static void test_streams_that_end_before_the_start_is_told(void **state)
{
	struct scene scene;
	int wake[2];

	assert_int_equal(pipe2(wake, O_CLOEXEC), 0);
	assert_int_equal(write(wake[1], "x", 1), 1);
	scene_start(&scene, STR(""));
	script_dies(&scene);
	for (int i = 0; i < 3; i++)
		assert_int_equal(run_wait(&scene.run, wake[0]), RUN_WOKEN);
	assert_int_equal(asked_next(&scene), WIRE_NONE);
	tell_started(&scene);
	assert_int_equal(run_wait(&scene.run, wake[0]), RUN_WOKEN);
	assert_int_equal(asked_next(&scene), WIRE_RUN_LOOK);
	channel_close_fds(wake, 2);
	scene_end(&scene);
}

static void test_outputs_that_an_executed_script_closes_early_are_no_event(void **state)
{
	struct scene scene;
	struct pollfd set[RUN_STREAM_MAX];

	scene_start_in(&scene, PACKAGE_BASH, (struct str){ .p = NULL, .n = 0 });
	tell_started(&scene);
	script_says(&scene, WIRE_RUN_STDOUT, "42\n");
	script_dies(&scene);
	for (int i = 0; i < RUN_STREAM_MAX; i++)
		set[i] = (struct pollfd){ .fd = scene.run.fds[i], .events = POLLIN };
	assert_int_equal(poll(set, RUN_STREAM_MAX, 0), 1);
	assert_int_equal(set[RUN_STDOUT].revents, POLLIN);
	tell_ended(&scene, WIRE_END_EXIT, 0);
	assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
	kept(&scene.run, RUN_STDOUT, "42\n");
	scene_end(&scene);
}

static void test_input_is_sealed_and_whole(void **state)
{
	struct scene scene;
	char input[16];

	scene_start(&scene, STR("a\nb"));
	assert_true(fd_is_sealed(scene.fds[WIRE_RUN_STDIN]));
	assert_true(fd_is_sealed(scene.fds[WIRE_RUN_PACKAGE]));
	assert_int_equal(fd_read_full(scene.fds[WIRE_RUN_STDIN], input, sizeof(input)), 3);
	scene_end(&scene);
	scene_start(&scene, STR("")); /* given, and empty */
	assert_true(fd_is_sealed(scene.fds[WIRE_RUN_STDIN]));
	scene_end(&scene);
	scene_start(&scene, (struct str){ .p = NULL, .n = 0 });
	assert_false(fd_is_sealed(scene.fds[WIRE_RUN_STDIN]));
	scene_end(&scene);
}

static void test_the_script_keeps_blocking_pipes(void **state)
{
	struct scene scene;

	scene_start(&scene, STR(""));
	assert_false(fcntl(scene.fds[WIRE_RUN_STDOUT], F_GETFL) & O_NONBLOCK);
	assert_false(fcntl(scene.fds[WIRE_RUN_STDERR], F_GETFL) & O_NONBLOCK);
	scene_end(&scene);
}

static void test_the_report_is_read_at_the_end(void **state)
{
	static const char bytes[] = "\x01\x0a\0\0\0ValueError\x02\x03\0\0\0bad";
	struct scene scene;

	scene_start(&scene, STR(""));
	assert_int_equal(
		pwrite(scene.fds[WIRE_RUN_REPORT], bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_int_equal(ftruncate(scene.fds[WIRE_RUN_REPORT], 0), -1); /* sealed */
	tell_started(&scene);
	tell_ended(&scene, WIRE_END_EXIT, 1);
	script_dies(&scene);
	assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
	assert_true(str_eq(scene.run.report.text[REPORT_ERROR_NAME], STR("ValueError")));
	assert_true(str_eq(scene.run.report.text[REPORT_ERROR_VALUE], STR("bad")));
	scene_end(&scene);
}

static void test_nobody_reports_of_bash(void **state)
{
	struct scene scene;

	scene_start_in(&scene, PACKAGE_BASH, STR(""));
	assert_int_equal(pwrite(scene.fds[WIRE_RUN_REPORT], "\x01\x01\0\0\0x", 6, 0), -1);
	tell_started(&scene);
	tell_ended(&scene, WIRE_END_EXIT, 0);
	script_dies(&scene);
	assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
	assert_int_equal(scene.run.report_bytes.len, 0);
	scene_end(&scene);
}

/* Whatever a script makes of it: pages that were never written end it, and its last byte may be
 * written. */
static void test_a_report_with_holes_or_without_an_end(void **state)
{
	static const char name[] = "\x01\x01\0\0\0n";
	static const char long_value[] = "\x02\xf5\xff\x0f\0"; /* all that is left: 1 MiB - 11 */
	const char last = 'z';
	struct scene scene;

	for (int is_filled = 0; is_filled < 2; is_filled++) {
		int fd;

		scene_start(&scene, STR(""));
		fd = scene.fds[WIRE_RUN_REPORT];
		assert_int_equal(pwrite(fd, name, sizeof(name) - 1, 0), sizeof(name) - 1);
		assert_int_equal(pwrite(fd, long_value, sizeof(long_value) - 1, sizeof(name) - 1),
			sizeof(long_value) - 1);
		assert_int_equal(pwrite(fd, &last, 1, REPORT_SIZE - 1), 1);
		for (off_t at = 4096; is_filled && at < REPORT_SIZE; at += 4096)
			assert_int_equal(pwrite(fd, "", 1, at), 1);
		tell_started(&scene);
		tell_ended(&scene, WIRE_END_EXIT, 0);
		script_dies(&scene);
		assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
		assert_true(str_eq(scene.run.report.text[REPORT_ERROR_NAME], STR("n")));
		assert_int_equal(scene.run.report.text[REPORT_ERROR_VALUE].n,
			is_filled ? REPORT_SIZE - 11 : 0);
		if (is_filled)
			assert_int_equal(
				scene.run.report.text[REPORT_ERROR_VALUE].p[REPORT_SIZE - 12], 'z');
		scene_end(&scene);
	}
}

static void test_a_failed_stage_is_no_run(void **state)
{
	struct scene scene;

	scene_start(&scene, STR(""));
	tell(&scene,
		(union wire_any){ .failed = { .error = EPERM, .stage = STAGE_SCRIPT_SECCOMP } },
		WIRE_FAILED, 1);
	assert_true(run_wait(&scene.run, -1) < 0);
	assert_int_equal(scene.run.fault.code, FAULT_SANDBOX_UNAVAILABLE);
	assert_string_equal(scene.run.fault.stage, stage_name(STAGE_SCRIPT_SECCOMP));
	assert_true(scene.jaild.fd >= 0);
	scene_end(&scene);
}

static void test_a_busy_session_is_said(void **state)
{
	struct scene scene;

	scene_start(&scene, STR(""));
	tell(&scene, (union wire_any){ .failed = { .error = EBUSY } }, WIRE_FAILED, 1);
	assert_true(run_wait(&scene.run, -1) < 0);
	assert_int_equal(scene.run.fault.code, FAULT_SESSION_BUSY);
	scene_end(&scene);
}

/* jaild is gone, while something still holds the script's pipes: that must not be waited for. */
static void test_the_connection_is_lost_in_mid_run(void **state)
{
	struct scene scene;
	usec_t before = clock_now_us();

	scene_start(&scene, STR(""));
	tell_started(&scene);
	script_says(&scene, WIRE_RUN_STDOUT, "half");
	scene.fd = fd_close(scene.fd);
	assert_true(run_wait(&scene.run, -1) < 0);
	assert_int_equal(scene.run.fault.code, FAULT_SANDBOX_UNAVAILABLE);
	assert_true(clock_now_us() - before < 5 * USEC_PER_S);
	scene_end(&scene);
}

static void test_a_malformed_message_in_mid_run(void **state)
{
	struct scene scene;

	scene_start(&scene, STR(""));
	tell_started(&scene);
	assert_int_equal(channel_send(scene.fd, "garbage", 7, NULL, 0), 0);
	assert_true(run_wait(&scene.run, -1) < 0);
	assert_int_equal(scene.run.fault.code, FAULT_SANDBOX_UNAVAILABLE);
	scene_end(&scene);
	scene_start(&scene, STR(""));
	tell(&scene, (union wire_any){ { 0 } }, WIRE_DONE, 1); /* not of a run */
	assert_true(run_wait(&scene.run, -1) < 0);
	assert_int_equal(scene.run.fault.code, FAULT_SANDBOX_UNAVAILABLE);
	scene_end(&scene);
}

/* The end was told and nobody closes the pipe: what came is the answer. */
static void test_a_held_pipe_delays_the_end_by_a_second_only(void **state)
{
	struct scene scene;
	usec_t before = clock_now_us();

	scene_start(&scene, STR(""));
	tell_started(&scene);
	script_says(&scene, WIRE_RUN_STDOUT, "kept");
	tell_ended(&scene, WIRE_END_EXIT, 0);
	assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
	assert_true(clock_now_us() - before < 10 * USEC_PER_S);
	kept(&scene.run, RUN_STDOUT, "kept");
	scene_end(&scene);
}

static void test_cancel(void **state)
{
	static union wire_any request; /* not on a stack that the sanitizer widens */
	struct scene scene;
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;

	scene_start(&scene, STR(""));
	run_cancel(&scene.run); /* before the start: remembered */
	run_cancel(&scene.run);
	tell_started(&scene);
	tell(&scene, (union wire_any){ { 0 } }, WIRE_DONE, 2);
	tell_ended(&scene, WIRE_END_CANCELLED, 9);
	script_dies(&scene);
	assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
	assert_int_equal(scene.run.ended.end, WIRE_END_CANCELLED);
	assert_true(channel_receive(scene.fd, &request, sizeof(request), fds, &n_fds) > 0);
	assert_int_equal(request.header.type, WIRE_RUN_CANCEL);
	assert_int_equal(request.run_cancel.run, 6);
	scene_end(&scene);
}

/* The end comes before the answer to the cancel, which is then "no such run". */
static void test_cancel_crosses_the_end(void **state)
{
	struct scene scene;

	scene_start(&scene, STR(""));
	tell_started(&scene);
	assert_int_equal(jaild_dispatch(&scene.jaild), 0);
	tell_ended(&scene, WIRE_END_EXIT, 0);
	tell(&scene, (union wire_any){ .failed = { .error = ESRCH } }, WIRE_FAILED, 2);
	script_dies(&scene);
	run_cancel(&scene.run);
	assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
	assert_int_equal(scene.run.ended.end, WIRE_END_EXIT);
	scene_end(&scene);
}

static void test_the_caller_is_woken(void **state)
{
	struct scene scene;
	int wake[2];

	assert_int_equal(pipe2(wake, O_CLOEXEC), 0);
	assert_int_equal(write(wake[1], "x", 1), 1);
	scene_start(&scene, STR(""));
	assert_int_equal(run_wait(&scene.run, wake[0]), RUN_WOKEN);
	scene.run.hangup_fd = wake[0]; /* whose end counts, not what it says */
	wake[1] = fd_close(wake[1]);
	assert_int_equal(run_wait(&scene.run, -1), RUN_WOKEN);
	(void)fd_close(wake[0]);
	scene_end(&scene);
}

static void test_a_reader_that_left_closes_the_pipe(void **state)
{
	struct scene scene;

	(void)signal(SIGPIPE, SIG_IGN);
	scene_start(&scene, STR(""));
	scene.chunk_result = -EPIPE;
	tell_started(&scene);
	script_says(&scene, WIRE_RUN_STDOUT, "first");
	tell_ended(&scene, WIRE_END_EXIT, 0);
	scene.fds[WIRE_RUN_STDERR] = fd_close(scene.fds[WIRE_RUN_STDERR]);
	assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
	assert_int_equal(fd_write_full(scene.fds[WIRE_RUN_STDOUT], "x", 1), -EPIPE);
	scene_end(&scene);
}

/* B4: a script that prints far more than a pipe holds is never stuck and all is counted. */
static void test_a_flood_is_drained_and_counted(void **state)
{
	struct scene scene;
	pid_t pid;

	scene_start(&scene, STR(""));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char block[4096];

		memset(block, 'x', sizeof(block));
		for (int i = 0; i < 4096; i++)
			(void)fd_write_full(
				scene.fds[WIRE_RUN_STDOUT + i % 2], block, sizeof(block));
		_exit(0);
	}
	script_dies(&scene);
	tell_started(&scene);
	tell_ended(&scene, WIRE_END_EXIT, 0);
	assert_int_equal(run_wait(&scene.run, -1), RUN_OVER);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(scene.run.output[RUN_STDOUT].bytes, 8 << 20);
	assert_int_equal(scene.run.output[RUN_STDERR].bytes, 8 << 20);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_run_from_start_to_end),
		cmocka_unit_test(test_the_first_instruction_is_within_the_run),
		cmocka_unit_test(test_the_end_of_a_live_call_may_tell_its_start),
		cmocka_unit_test(test_jaild_is_asked_once_to_look_at_the_end_of_both_streams),
		cmocka_unit_test(test_streams_that_end_before_the_start_is_told),
		cmocka_unit_test(test_outputs_that_an_executed_script_closes_early_are_no_event),
		cmocka_unit_test(test_input_is_sealed_and_whole),
		cmocka_unit_test(test_the_script_keeps_blocking_pipes),
		cmocka_unit_test(test_the_report_is_read_at_the_end),
		cmocka_unit_test(test_nobody_reports_of_bash),
		cmocka_unit_test(test_a_report_with_holes_or_without_an_end),
		cmocka_unit_test(test_a_failed_stage_is_no_run),
		cmocka_unit_test(test_a_busy_session_is_said),
		cmocka_unit_test(test_the_connection_is_lost_in_mid_run),
		cmocka_unit_test(test_a_malformed_message_in_mid_run),
		cmocka_unit_test(test_a_held_pipe_delays_the_end_by_a_second_only),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_cancel_crosses_the_end),
		cmocka_unit_test(test_the_caller_is_woken),
		cmocka_unit_test(test_a_reader_that_left_closes_the_pipe),
		cmocka_unit_test(test_a_flood_is_drained_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
