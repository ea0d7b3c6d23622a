#include "jail/client/refusal.h"

#include "base/fault.h"
#include "base/unit.h"
#include "wire/message.h"
#include "wire/stage.h"

#include <errno.h>
#include <string.h>

static void refused(int error, unsigned stage, enum fault_code code)
{
	const struct wire_failed failed = { .error = error, .stage = stage };
	struct fault fault;

	assert_int_equal(refusal_take(&failed, &fault), -error);
	assert_int_equal(fault.code, code);
	assert_true(strlen(fault.text) > 10);
	/* An errno number never reaches a person. */
	assert_null(strpbrk(fault.text, "0123456789"));
}

static void test_a_stage_is_always_ours(void **state)
{
	for (unsigned stage = STAGE_NONE + 1; stage < STAGE_MAX; stage++)
		refused(ENOENT, stage, FAULT_SANDBOX_UNAVAILABLE);
}

static void test_a_refused_request_has_a_code(void **state)
{
	refused(EBUSY, STAGE_NONE, FAULT_SESSION_BUSY);
	refused(ENOENT, STAGE_NONE, FAULT_NOT_FOUND);
	refused(ELOOP, STAGE_NONE, FAULT_NOT_FOUND);
	refused(EINVAL, STAGE_NONE, FAULT_NOT_FOUND);
	refused(ERANGE, STAGE_NONE, FAULT_BAD_REQUEST);
	refused(ENOSPC, STAGE_NONE, FAULT_HOME_FULL);
	refused(ESRCH, STAGE_NONE, FAULT_RUN_FINISHED);
	refused(EPERM, STAGE_NONE, FAULT_SANDBOX_UNAVAILABLE);
}

static void test_every_stage_has_room_for_its_name(void **state)
{
	for (unsigned stage = 0; stage < STAGE_MAX; stage++) {
		struct fault fault;

		fault_set_stage(&fault, stage_name(stage), "text");
		assert_string_equal(fault.stage, stage_name(stage));
	}
}

static void test_an_error_that_is_none(void **state)
{
	static const int errors[] = { 0, -1, 4096, INT32_MAX, INT32_MIN };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		const struct wire_failed failed = { .error = errors[i] };
		struct fault fault;

		assert_int_equal(refusal_take(&failed, &fault), -EPROTO);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stage_is_always_ours),
		cmocka_unit_test(test_a_refused_request_has_a_code),
		cmocka_unit_test(test_every_stage_has_room_for_its_name),
		cmocka_unit_test(test_an_error_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
