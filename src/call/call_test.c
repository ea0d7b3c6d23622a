#include "call/call.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macro.h"
#include "base/unit.h"
#include "pool/fake_test.h"
#include "json/json.h"

#include <string.h>

/* Calls over a fake jaild: what a real one does not do on order. */
struct scene {
	struct fake fake;
	struct house *house;
};

static void scene_start(struct scene *scene)
{
	const struct house_config config = HOUSE_CONFIG_DEFAULT;
	struct fault fault;

	scene->house = house_new(&config);
	assert_int_equal(house_attach(scene->house, fake_start(&scene->fake), &fault), 0);
}

static void scene_end(struct scene *scene)
{
	house_free(scene->house);
	fake_stop(&scene->fake);
}

static int run(struct scene *scene, const char *key, const char *code, struct call_result *result)
{
	const struct call_request request = { .tenant = "t",
		.key = key,
		.run_id = strcmp(code, "wait") == 0 ? key : NULL,
		.language = PACKAGE_BASH,
		.code = str_from(code),
		.client_fd = -1 };
	int r = call_run(scene->house, &request, result);

	json_free(result->answer);
	return r;
}

static void test_a_failed_stage_is_told_and_leaves_the_session(void **state)
{
	struct scene scene;
	struct call_result result;
	struct house_gauges gauges;

	scene_start(&scene);
	assert_true(run(&scene, "a", "refuse", &result) < 0);
	assert_int_equal(result.fault.code, FAULT_SANDBOX_UNAVAILABLE);
	assert_string_equal(result.fault.stage, stage_name(STAGE_SCRIPT_SECCOMP));
	assert_int_equal(run(&scene, "a", "ok", &result), 0);
	assert_false(result.is_session_opened);
	assert_string_equal(result.outcome, "ok");
	house_gauges(scene.house, &gauges);
	assert_int_equal(gauges.sessions, 1);
	assert_int_equal(gauges.runs + gauges.calls, 0);
	assert_int_equal(counters_get(house_counters_get(scene.house), COUNTER_ENDED_SETUP), 1);
	scene_end(&scene);
}

static void test_a_session_that_cannot_be_made_holds_no_place(void **state)
{
	struct scene scene;
	struct call_result result;
	struct house_gauges gauges;

	scene_start(&scene);
	scene.fake.refuses_sessions = true;
	for (int i = 0; i < 6; i++) { /* more than there are places */
		assert_true(run(&scene, "a", "ok", &result) < 0);
		assert_string_equal(result.fault.stage, stage_name(STAGE_SESSION_HOME));
	}
	house_gauges(scene.house, &gauges);
	assert_int_equal(gauges.sessions, 0);
	scene_end(&scene);
}

/* jaild ended the connection of one run, and lives. */
static void test_a_lost_connection_hurts_one_call(void **state)
{
	struct scene scene;
	struct call_result result;

	scene_start(&scene);
	assert_true(run(&scene, "a", "crash", &result) < 0);
	assert_int_equal(result.fault.code, FAULT_SANDBOX_UNAVAILABLE);
	assert_int_equal(run(&scene, "a", "ok", &result), 0);
	assert_int_equal(run(&scene, "b", "ok", &result), 0);
	scene_end(&scene);
}

static void test_a_run_is_answered_without_its_listing(void **state)
{
	const struct call_request request = { .tenant = "t",
		.key = "a",
		.language = PACKAGE_BASH,
		.code = STR("hello"),
		.client_fd = -1 };
	struct scene scene;
	struct call_result result;
	bool is_truncated = false;
	struct str text;

	scene_start(&scene);
	scene.fake.refuses_lists = true;
	assert_int_equal(call_run(scene.house, &request, &result), 0);
	assert_int_equal(
		json_as_bool(json_get(result.answer, "files_truncated"), &is_truncated), 0);
	assert_true(is_truncated);
	assert_int_equal(
		json_as_text(json_get(json_get(result.answer, "stdout"), "text"), &text), 0);
	assert_true(str_eq(text, STR("hello")));
	json_free(result.answer);
	scene_end(&scene);
}

struct waiter {
	struct scene *scene;
	struct call_result result;
	int r;
};

static void *waiter_main(void *argument)
{
	struct waiter *waiter = argument;

	waiter->r = run(waiter->scene, "w", "wait", &waiter->result);
	return NULL;
}

/* Starts a run that waits, and returns when it is under way. */
static pthread_t waiter_start(struct waiter *waiter, struct scene *scene)
{
	struct house_session_info info = { .run_id = "" };
	struct fault fault;
	pthread_t thread;

	*waiter = (struct waiter){ .scene = scene };
	assert_int_equal(pthread_create(&thread, NULL, waiter_main, waiter), 0);
	while (house_look(scene->house, "t", "w", &info, &fault) < 0 || !info.run_id[0] ||
		counters_get(house_counters_get(scene->house), COUNTER_OPENED) == 0)
		(void)usleep(1000);
	assert_string_equal(info.run_id, "w");
	return thread;
}

static void test_cancel_close_and_drain_end_a_run(void **state)
{
	for (int how = 0; how < 3; how++) {
		struct scene scene;
		struct waiter waiter;
		struct fault fault;
		pthread_t thread;

		scene_start(&scene);
		thread = waiter_start(&waiter, &scene);
		if (how == 0)
			assert_int_equal(house_cancel(scene.house, "t", "w", &fault), 0);
		else if (how == 1)
			assert_int_equal(house_close(scene.house, "t", "w", &fault), 0);
		else
			assert_int_equal(house_drain(scene.house, 0, 5000), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(waiter.r, 0);
		assert_string_equal(waiter.result.reason, "cancelled");
		scene_end(&scene);
	}
}

/* jaild dies under a run; the next one knows nothing of the session. */
static void test_the_next_jaild_begins_anew(void **state)
{
	struct scene scene;
	struct fake second;
	struct waiter waiter;
	struct call_result result;
	struct fault fault;
	pthread_t thread;

	scene_start(&scene);
	thread = waiter_start(&waiter, &scene);
	fake_stop(&scene.fake);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(waiter.r < 0);
	assert_int_equal(waiter.result.fault.code, FAULT_SANDBOX_UNAVAILABLE);
	assert_true(run(&scene, "w", "ok", &result) < 0);
	assert_int_equal(house_attach(scene.house, fake_start(&second), &fault), 0);
	assert_int_equal(run(&scene, "w", "ok", &result), 0);
	assert_true(result.is_session_opened);
	assert_int_equal(counters_get(house_counters_get(scene.house), COUNTER_LOST), 1);
	house_free(scene.house);
	fake_stop(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_failed_stage_is_told_and_leaves_the_session),
		cmocka_unit_test(test_a_session_that_cannot_be_made_holds_no_place),
		cmocka_unit_test(test_a_lost_connection_hurts_one_call),
		cmocka_unit_test(test_a_run_is_answered_without_its_listing),
		cmocka_unit_test(test_cancel_close_and_drain_end_a_run),
		cmocka_unit_test(test_the_next_jaild_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
