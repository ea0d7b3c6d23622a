#include "http/problem.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/unit.h"

#include <string.h>

static void test_members(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(PROBLEM_SIZE_MAX);
	struct fault fault;

	fault_set(&fault, FAULT_HOME_FULL, "a \"b\" \\ %c \xc3\xa9", '\n');
	assert_int_equal(problem_write(&fault, &out), 0);
	assert_string_equal(buf_get_cstr(&out),
		"{\"type\":\"about:blank\",\"title\":\"Insufficient Storage\",\"status\":507,"
		"\"code\":\"home_full\",\"detail\":\"a \\\"b\\\" \\\\ \\u000a \xc3\xa9\","
		"\"advice\":\"Delete files of the session, or open one with a profile whose home "
		"is "
		"larger.\"}");
}

static void test_field_and_stage(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(PROBLEM_SIZE_MAX);
	struct fault fault;

	fault_set_field(&fault, "code", "missing");
	assert_int_equal(problem_write(&fault, &out), 0);
	assert_non_null(strstr(buf_get_cstr(&out),
		"\"advice\":\"Mend the field code as detail says.\",\"field\":\"code\"}"));
	buf_clear(&out);
	fault_set_stage(&fault, "mount", "failed");
	assert_int_equal(problem_write(&fault, &out), 0);
	assert_non_null(strstr(buf_get_cstr(&out), "\"stage\":\"mount\"}"));
}

/* The largest fault, every byte of it escaped, fits in what is promised. */
static void test_largest(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(PROBLEM_SIZE_MAX);
	struct fault fault;

	fault_set(&fault, FAULT_SANDBOX_UNAVAILABLE, " ");
	memset(fault.text, 1, sizeof(fault.text) - 1);
	memset(fault.stage, 1, sizeof(fault.stage) - 1);
	memset(fault.field, 1, sizeof(fault.field) - 1);
	memset(fault.advice, 1, sizeof(fault.advice) - 1);
	assert_int_equal(problem_write(&fault, &out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_field_and_stage),
		cmocka_unit_test(test_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
