#include "wire/control.h"

#include "base/unit.h"

#include <errno.h>

static int check(uint32_t type, uint32_t uid, ssize_t size, size_t n_fds)
{
	return control_check(&(struct control){ .type = type, .owner_uid = uid }, size, n_fds);
}

static void test_form(void **state)
{
	const ssize_t size = sizeof(struct control);

	assert_int_equal(check(CONTROL_START, 1000, size, 2), 0);
	assert_int_equal(check(CONTROL_START, 1000, size, 1), -EBADMSG);
	assert_int_equal(check(CONTROL_START, 1000, size, 6), -EBADMSG);
	assert_int_equal(check(CONTROL_TOKENS, 0, size, 1), 0);
	assert_int_equal(check(CONTROL_TOKENS, 1, size, 1), -EBADMSG);
	assert_int_equal(check(CONTROL_JAILD, 0, size, 0), -EBADMSG);
	assert_int_equal(check(CONTROL_AUDIT, 0, size, 1), 0);
	assert_int_equal(check(CONTROL_AUDIT, 0, size, 0), -EBADMSG);
	assert_int_equal(check(CONTROL_KNOWN, 0, size, 1), 0);
	assert_int_equal(check(CONTROL_KNOWN, 0, size, 0), -EBADMSG);
	assert_int_equal(check(CONTROL_READY, 0, size, 0), 0);
	assert_int_equal(check(CONTROL_READY, 0, size - 1, 0), -EBADMSG);
	assert_int_equal(check(CONTROL_NONE, 0, size, 0), -EBADMSG);
	assert_int_equal(check(CONTROL_TYPE_MAX, 0, size, 0), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_form) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
