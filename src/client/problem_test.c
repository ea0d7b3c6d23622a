#include "client/problem.h"

#include "base/fault.h"
#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>
#include <string.h>

static void test_every_code_of_ours(void **state)
{
	for (int i = FAULT_NONE + 1; i < FAULT_CODE_MAX; i++) {
		enum fault_code code = (enum fault_code)i;
		struct fault fault;
		char text[256];

		(void)snprintf(text, sizeof(text),
			"{\"code\":\"%s\",\"status\":%d,\"detail\":\"d\",\"stage\":\"s\","
			"\"field\":\"f\"}",
			fault_name(code), fault_status(code));
		assert_int_equal(problem_read(str_from(text), &fault), 0);
		assert_int_equal(fault.code, code);
		assert_string_equal(fault.text, "d");
		assert_string_equal(fault.stage, "s");
		assert_string_equal(fault.field, "f");
	}
}

static void test_codes_of_a_newer_supervisor(void **state)
{
	struct fault fault;

	assert_int_equal(problem_read(STR("{\"code\":\"new\",\"status\":418}"), &fault), 0);
	assert_int_equal(fault.code, FAULT_BAD_REQUEST);
	assert_int_equal(problem_read(STR("{\"code\":\"new\",\"status\":599}"), &fault), 0);
	assert_int_equal(fault.code, FAULT_SANDBOX_UNAVAILABLE);
}

static void test_control_characters_and_long_texts(void **state)
{
	struct fault fault;
	char text[2048];

	assert_int_equal(
		problem_read(
			STR("{\"code\":\"internal\",\"status\":500,\"detail\":\"\\u001b[2J\\n\"}"),
			&fault),
		0);
	assert_string_equal(fault.text, "?[2J?");
	assert_int_equal(problem_read(STR("{\"code\":\"internal\",\"status\":500,\"field\":"
					  "\"a\\u202eb\",\"detail\":\"\\u009b31mx\\u202e"
					  "gpj.\\u2028\\u200b\\ufeff\\u061c \\u00e9\"}"),
				 &fault),
		0);
	assert_string_equal(fault.text, "??31mx???gpj.?????????\?\? \xc3\xa9");
	assert_string_equal(fault.field, "a???b");
	(void)snprintf(text, sizeof(text),
		"{\"code\":\"internal\",\"status\":500,\"detail\":\"%01000d\"}", 1);
	assert_int_equal(problem_read(str_from(text), &fault), 0);
	assert_int_equal(strlen(fault.text), sizeof(fault.text) - 1);
}

static void test_what_is_no_problem(void **state)
{
	static const char *const texts[] = { "", "{}", "[]", "{\"code\":\"internal\"}",
		"{\"status\":500}", "{\"code\":\"internal\",\"status\":200}",
		"{\"code\":\"internal\",\"status\":\"500\"}", "<html>" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct fault fault;

		assert_int_equal(problem_read(str_from(texts[i]), &fault), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_of_ours),
		cmocka_unit_test(test_codes_of_a_newer_supervisor),
		cmocka_unit_test(test_control_characters_and_long_texts),
		cmocka_unit_test(test_what_is_no_problem),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
