#include "base/fault.h"

#include "base/unit.h"

#include <string.h>

static void test_every_code_has_a_name_status_and_advice(void **state)
{
	for (int i = FAULT_NONE + 1; i < FAULT_CODE_MAX; i++) {
		enum fault_code code = (enum fault_code)i;

		assert_true(strlen(fault_name(code)) > 0);
		assert_true(strlen(fault_advice(&(struct fault){ .code = code })) > 0);
		assert_in_range(fault_status(code), 400, 599);
		for (int j = i + 1; j < FAULT_CODE_MAX; j++)
			assert_string_not_equal(fault_name(code), fault_name((enum fault_code)j));
	}
	assert_int_equal(fault_status(FAULT_NONE), 0);
}

static void test_codes_of_the_contract(void **state)
{
	assert_string_equal(fault_name(FAULT_SANDBOX_BUSY), "sandbox_busy");
	assert_int_equal(fault_status(FAULT_SANDBOX_BUSY), 429);
	assert_string_equal(fault_name(FAULT_SANDBOX_UNAVAILABLE), "sandbox_unavailable");
	assert_int_equal(fault_status(FAULT_SANDBOX_UNAVAILABLE), 503);
	assert_int_equal(fault_status(FAULT_HOME_FULL), 507);
}

static void test_set_forgets_what_was(void **state)
{
	struct fault f;

	fault_set_field(&f, "timeout_ms", "at most %d", 30000);
	assert_int_equal(f.code, FAULT_INVALID_FIELD);
	assert_string_equal(f.field, "timeout_ms");
	assert_string_equal(f.text, "at most 30000");
	fault_set_stage(&f, "mount /proc", "not permitted");
	assert_int_equal(f.code, FAULT_SANDBOX_UNAVAILABLE);
	assert_string_equal(f.stage, "mount /proc");
	assert_string_equal(f.field, "");
	fault_set(&f, FAULT_NOT_FOUND, "no such session");
	assert_string_equal(f.stage, "");
}

static void test_advice_is_of_the_case(void **state)
{
	struct fault f;

	fault_set_field(&f, "policy", "must be %s", "kept");
	assert_string_equal(fault_advice(&f), "Mend the field policy as detail says.");
	fault_set(&f, FAULT_SESSION_BUSY, "the session is there already");
	assert_string_equal(fault_advice(&f), fault_advice(&(struct fault){ .code = f.code }));
	fault_advise(&f, "Close it %s.", "first");
	assert_string_equal(fault_advice(&f), "Close it first.");
	fault_set(&f, FAULT_NOT_FOUND, "no such run");
	assert_string_equal(fault_advice(&f), fault_advice(&(struct fault){ .code = f.code }));
}

static void test_long_text_is_cut_at_a_character(void **state)
{
	char text[301], expected[256];
	struct fault f;

	memset(text, 'x', 300);
	text[300] = '\0';
	fault_set(&f, FAULT_INTERNAL, "%s", text);
	assert_int_equal(strlen(f.text), 255);
	/* The two bytes of one letter stand at 254 and 255. */
	memcpy(text + 254, "\xd0\x9f", 2);
	fault_set(&f, FAULT_INTERNAL, "%s", text);
	memset(expected, 'x', 254);
	expected[254] = '\0';
	assert_string_equal(f.text, expected);
	/* At 253 and 254 it fits. */
	memcpy(text + 253, "\xd0\x9fx", 3);
	fault_set(&f, FAULT_INTERNAL, "%s", text);
	assert_int_equal(strlen(f.text), 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_has_a_name_status_and_advice),
		cmocka_unit_test(test_codes_of_the_contract),
		cmocka_unit_test(test_set_forgets_what_was),
		cmocka_unit_test(test_advice_is_of_the_case),
		cmocka_unit_test(test_long_text_is_cut_at_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
