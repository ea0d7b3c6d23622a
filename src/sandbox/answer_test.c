#include "sandbox/answer.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/unit.h"
#include "json/json.h"

#include <string.h>

struct scene {
	struct run run;
	struct wire_limits limits;
	struct answer answer;
};

static int scene_start(void **state)
{
	static struct scene scene;

	run_init(&scene.run);
	scene.run.ended = (struct wire_run_ended){
		.end = WIRE_END_EXIT, .wall_us = 1234567, .cpu_us = 999, .memory_peak_bytes = 4096
	};
	scene.limits = (struct wire_limits){ .memory_bytes = 256 << 20 };
	scene.answer = (struct answer){ .run_id = "id",
		.session = "key",
		.session_state = "new",
		.language = PACKAGE_PYTHON,
		.run = &scene.run,
		.limits = &scene.limits,
		.wall_ms = 30000,
		.protections = WIRE_PROTECT_ALL };
	*state = &scene;
	return 0;
}

static int scene_end(void **state)
{
	struct scene *scene = *state;

	run_fini(&scene->run);
	return 0;
}

static void test_every_member_is_there_in_its_order(void **state)
{
	struct scene *scene = *state;
	AUTO_JSON struct json *j = answer_make(&scene->answer);
	AUTO_BUF struct buf out = BUF_INIT(4096);

	assert_int_equal(json_write(j, &out), 0);
	assert_string_equal(buf_get_cstr(&out),
		"{\"run_id\":\"id\",\"session\":\"key\",\"session_state\":\"new\","
		"\"language\":\"python\",\"outcome\":\"ok\","
		"\"end\":{\"reason\":\"exit\",\"code\":0,\"signal\":null,"
		"\"text\":\"ran 1.23 s and exited with status 0\"},"
		"\"stdout\":{\"text\":\"\",\"bytes\":0,\"dropped\":0},"
		"\"stderr\":{\"text\":\"\",\"bytes\":0,\"dropped\":0},"
		"\"error\":null,\"reset\":null,\"restored\":null,\"advice\":[],\"results\":[],"
		"\"files\":[],"
		"\"files_truncated\":false,"
		"\"usage\":{\"queue_ms\":0,\"start_ms\":0,\"wall_ms\":1234,\"cpu_ms\":0,"
		"\"memory_peak_bytes\":4096,\"memory_peak_kind\":\"cgroup\"},"
		"\"egress\":{\"denied\":[]},\"protections\":\"full\"}");
}

static struct str text_at(const struct json *j, const char *object, const char *name)
{
	struct str text = STR("(none)");

	(void)json_as_text(json_get(object ? json_get(j, object) : j, name), &text);
	return text;
}

static void test_S20_output_that_is_no_text_is_repaired(void **state)
{
	struct scene *scene = *state;
	AUTO_JSON struct json *j = NULL;

	output_feed(&scene->run.output[RUN_STDOUT], "\xff\n", 2);
	j = answer_make(&scene->answer);
	assert_true(str_eq(text_at(j, "stdout", "text"), STR("\xef\xbf\xbd\n")));
}

static void test_E1_the_error_of_the_report(void **state)
{
	struct scene *scene = *state;
	AUTO_JSON struct json *j = NULL;

	scene->run.ended.code = 1;
	scene->run.report.text[REPORT_ERROR_NAME] = STR("NameError");
	scene->run.report.text[REPORT_ERROR_VALUE] = STR("name 'x\xed\xa0\x80' is not defined");
	j = answer_make(&scene->answer);
	assert_true(str_eq(text_at(j, NULL, "outcome"), STR("error")));
	assert_true(str_eq(text_at(j, "error", "name"), STR("NameError")));
	assert_true(str_starts(text_at(j, "error", "value"), STR("name 'x\xef\xbf\xbd")));
	assert_true(str_eq(text_at(j, "error", "traceback"), STR("")));
}

static void test_a_signal_has_a_name_and_no_code(void **state)
{
	struct scene *scene = *state;
	AUTO_JSON struct json *j = NULL;

	scene->run.ended.end = WIRE_END_SIGNAL;
	scene->run.ended.code = 9;
	j = answer_make(&scene->answer);
	assert_true(str_eq(text_at(j, "end", "signal"), STR("SIGKILL")));
	assert_int_equal(json_kind_get(json_get(json_get(j, "end"), "code")), JSON_KIND_NULL);
	assert_true(str_eq(text_at(j, NULL, "outcome"), STR("killed")));
}

static void test_files_with_names_that_are_no_text(void **state)
{
	struct scene *scene = *state;
	const struct answer_file files[] = {
		{ .path = STR("a.png"),
			.size_bytes = 5,
			.mime = "image/png",
			.saved = "out/a.png" },
		{ .path = STR("\xff"), .change = CHANGE_DELETED },
		{ .path = STR("\xfe"), .saved = "out/\xfe" },
	};
	AUTO_JSON struct json *j = NULL;
	const struct json *list;

	scene->answer.files = files;
	scene->answer.n_files = 3;
	scene->answer.is_files_truncated = true;
	j = answer_make(&scene->answer);
	list = json_get(j, "files");
	assert_int_equal(json_size(list), 3);
	assert_true(str_eq(text_at(json_at(list, 0), NULL, "saved"), STR("out/a.png")));
	assert_null(json_get(json_at(list, 0), "path_b64"));
	assert_null(json_get(json_at(list, 0), "saved_b64"));
	assert_true(str_eq(text_at(json_at(list, 2), NULL, "saved"), STR("out/\xef\xbf\xbd")));
	assert_true(str_eq(text_at(json_at(list, 2), NULL, "saved_b64"), STR("b3V0L/4=")));
	assert_true(str_eq(text_at(json_at(list, 1), NULL, "path"), STR("\xef\xbf\xbd")));
	assert_true(str_eq(text_at(json_at(list, 1), NULL, "path_b64"), STR("/w==")));
	assert_true(str_eq(text_at(json_at(list, 1), NULL, "change"), STR("deleted")));
	assert_int_equal(json_kind_get(json_get(json_at(list, 1), "mime")), JSON_KIND_NULL);
}

static void test_what_is_off_is_listed(void **state)
{
	struct scene *scene = *state;
	AUTO_JSON struct json *j = NULL;
	struct str name;

	scene->answer.protections =
		WIRE_PROTECT_ALL & ~(uint32_t)(WIRE_PROTECT_MEMORY | WIRE_PROTECT_CPU);
	scene->run.ended.memory_peak_is_rss = 1;
	scene->run.ended.advice = WIRE_ADVICE_PIDS;
	j = answer_make(&scene->answer);
	assert_int_equal(json_size(json_get(j, "protections")), 2);
	assert_int_equal(json_as_text(json_at(json_get(j, "protections"), 1), &name), 0);
	assert_true(str_eq(name, STR("cpu")));
	assert_true(str_eq(text_at(j, "usage", "memory_peak_kind"), STR("rss")));
	assert_int_equal(json_size(json_get(j, "advice")), 1);
}

static void test_hints_follow_the_sentence(void **state)
{
	struct scene *scene = *state;
	AUTO_JSON struct json *j = NULL;

	scene->limits.processes = 16;
	scene->run.ended.advice = WIRE_ADVICE_PIDS;
	j = answer_make(&scene->answer);
	assert_true(str_eq(text_at(j, "end", "text"),
		STR("ran 1.23 s and exited with status 0. It reached the limit of 16 processes and "
		    "threads together (the profile roomy allows 256).")));
}

static void test_a_problem_names_stage_or_field(void **state)
{
	AUTO_JSON struct json *j = NULL;
	struct fault fault;
	int64_t status = 0;

	fault_set_stage(&fault, "mount /proc", "no");
	j = answer_problem(&fault);
	assert_true(str_eq(text_at(j, NULL, "code"), STR("sandbox_unavailable")));
	assert_true(str_eq(text_at(j, NULL, "stage"), STR("mount /proc")));
	assert_int_equal(json_as_integer(json_get(j, "status"), &status), 0);
	assert_int_equal(status, 503);
	assert_null(json_get(j, "field"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_start, scene_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_member_is_there_in_its_order),
		TEST(test_S20_output_that_is_no_text_is_repaired),
		TEST(test_E1_the_error_of_the_report),
		TEST(test_a_signal_has_a_name_and_no_code),
		TEST(test_files_with_names_that_are_no_text),
		TEST(test_what_is_off_is_listed),
		TEST(test_hints_follow_the_sentence),
		TEST(test_a_problem_names_stage_or_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
