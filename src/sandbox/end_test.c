#include "sandbox/end.h"

#include "base/buf.h"
#include "base/unit.h"

#include <signal.h>
#include <string.h>

struct scene {
	struct wire_run_ended ended;
	struct wire_limits limits;
	struct report report;
	struct end_facts facts;
};

static int scene_start(void **state)
{
	static struct scene scene;

	scene = (struct scene){
		.ended = { .end = WIRE_END_EXIT, .wall_us = 830000 },
		.limits = { .memory_bytes = 256 << 20,
			.home_bytes = 100 << 20,
			.tmp_bytes = 50 << 20,
			.file_bytes = 10 << 20,
			.processes = 16 },
	};
	scene.facts = (struct end_facts){ .ended = &scene.ended,
		.limits = &scene.limits,
		.wall_ms = 30000,
		.language = PACKAGE_BASH,
		.report = &scene.report };
	*state = &scene;
	return 0;
}

static void said(
	const struct scene *scene, const char *outcome, const char *reason, const char *text)
{
	AUTO_BUF struct buf out = BUF_INIT(1024);

	end_sentence(&scene->facts, &out);
	end_hints(&scene->facts, &out);
	assert_string_equal(buf_get_cstr(&out), text);
	assert_string_equal(end_outcome(&scene->ended), outcome);
	assert_string_equal(end_reason(&scene->ended), reason);
}

static void hinted(const struct scene *scene, const char *part)
{
	AUTO_BUF struct buf out = BUF_INIT(1024);

	end_sentence(&scene->facts, &out);
	end_hints(&scene->facts, &out);
	if (!strstr(buf_get_cstr(&out), part))
		fail_msg("no '%s' in '%s'", part, buf_get_cstr(&out));
}

static void test_each_end_has_its_words(void **state)
{
	struct scene *scene = *state;

	said(scene, "ok", "exit", "ran 0.83 s and exited with status 0");
	scene->ended.code = 1;
	said(scene, "error", "exit", "ran 0.83 s and exited with status 1");
	scene->ended = (struct wire_run_ended){ .end = WIRE_END_SIGNAL, .code = SIGSEGV };
	said(scene, "killed", "signal", "ran 0 ms and was ended by SIGSEGV");
	scene->ended.code = SIGRTMIN + 3;
	said(scene, "killed", "signal", "ran 0 ms and was ended by signal 37");
	scene->ended.end = WIRE_END_TIMEOUT;
	said(scene, "timeout", "timeout", "stopped after 30 s, the time limit");
	scene->ended.end = WIRE_END_MEMORY;
	said(scene, "killed", "memory", "stopped: over the memory limit of 256 MiB");
	scene->ended = (struct wire_run_ended){ .end = WIRE_END_CANCELLED, .wall_us = 2100000 };
	said(scene, "killed", "cancelled", "cancelled after 2.1 s");
}

static void test_an_unknown_end_does_no_harm(void **state)
{
	struct scene *scene = *state;

	scene->ended.end = 4711;
	scene->ended.code = -1;
	hinted(scene, "was ended by signal -1");
	assert_string_equal(end_reason(&scene->ended), "signal");
}

static void test_B11_no_input_is_hinted_at(void **state)
{
	struct scene *scene = *state;

	scene->ended.code = 1;
	scene->report.text[REPORT_ERROR_NAME] = STR("EOFError");
	hinted(scene, "stdin");
	scene->facts.has_stdin = true;
	said(scene, "error", "exit", "ran 0.83 s and exited with status 1");
}

static void test_bash_without_proc_is_hinted_at(void **state)
{
	struct scene *scene = *state;

	scene->ended.code = 1;
	scene->facts.stderr_text = STR("main.sh: line 1: /dev/fd/63: No such file or directory");
	hinted(scene, "<(...)");
	scene->facts.stderr_text = STR("/dev/stderr: No such file or directory");
	hinted(scene, "/dev/stderr");
	scene->limits.own_proc = 1;
	said(scene, "error", "exit", "ran 0.83 s and exited with status 1");
}

static void test_full_file_systems_name_their_limit(void **state)
{
	struct scene *scene = *state;

	scene->ended.code = 1;
	scene->facts.stderr_text = STR("cp: x: No space left on device");
	hinted(scene, "100 MiB");
	hinted(scene, "50 MiB");
	scene->facts.stderr_text = STR("");
	scene->report.text[REPORT_ERROR_VALUE] = STR("[Errno 27] File too large");
	hinted(scene, "10 MiB (the profile roomy allows 512 MiB).");
	scene->report.text[REPORT_ERROR_VALUE] = STR("");
	scene->ended = (struct wire_run_ended){ .end = WIRE_END_SIGNAL, .code = SIGXFSZ };
	hinted(scene, "One file may have 10 MiB");
	scene->ended = (struct wire_run_ended){ .end = WIRE_END_EXIT, .code = 153 };
	scene->facts.stderr_text = STR("main.sh: line 1: 3 File size limit exceeded dd");
	hinted(scene, "One file may have 10 MiB");
	scene->ended = (struct wire_run_ended){ .end = WIRE_END_SIGNAL, .code = SIGXFSZ };
	scene->limits.file_bytes = UINT64_MAX;
	said(scene, "killed", "signal",
		"ran 0 ms and was ended by SIGXFSZ One file may have 16777216 TiB.");
}

static void test_the_process_limit_is_told_even_after_a_good_end(void **state)
{
	struct scene *scene = *state;

	scene->ended.advice = WIRE_ADVICE_PIDS;
	hinted(scene, "16 processes and threads together (the profile roomy allows 256).");
	scene->limits.processes = 256;
	hinted(scene, "256 processes and threads together.");
}

static void test_a_good_end_has_no_hint(void **state)
{
	struct scene *scene = *state;

	scene->facts.stderr_text = STR("No space left on device, /dev/fd/63");
	said(scene, "ok", "exit", "ran 0.83 s and exited with status 0");
}

static void test_the_text_is_cut_where_there_is_no_room(void **state)
{
	struct scene *scene = *state;
	AUTO_BUF struct buf out = BUF_INIT(10);

	end_sentence(&scene->facts, &out);
	end_hints(&scene->facts, &out);
	assert_true(out.len <= 10);
}

#define TEST(name) cmocka_unit_test_setup(name, scene_start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_end_has_its_words),
		TEST(test_an_unknown_end_does_no_harm),
		TEST(test_B11_no_input_is_hinted_at),
		TEST(test_bash_without_proc_is_hinted_at),
		TEST(test_full_file_systems_name_their_limit),
		TEST(test_the_process_limit_is_told_even_after_a_good_end),
		TEST(test_a_good_end_has_no_hint),
		TEST(test_the_text_is_cut_where_there_is_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
