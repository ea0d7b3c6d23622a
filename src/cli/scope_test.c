#include "cli/scope.h"

#include "base/unit.h"

/* Not tried here: scope_enter itself, which may well replace the test by systemd-run. */

static void test_the_mark_of_a_second_life(void **state)
{
	char *marked[] = { (char *)(uintptr_t) "cloche", (char *)(uintptr_t) "--in-systemd-scope",
		(char *)(uintptr_t) "run", NULL };
	char *plain[] = { (char *)(uintptr_t) "cloche", (char *)(uintptr_t) "run",
		(char *)(uintptr_t) "--in-systemd-scope", NULL };

	assert_true(scope_is_marked(3, marked));
	assert_false(scope_is_marked(3, plain));
	assert_false(scope_is_marked(1, plain));
	assert_false(scope_is_marked(0, plain));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_mark_of_a_second_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
