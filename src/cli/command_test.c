#include "cli/command.h"

#include "base/unit.h"

#include <string.h>

static void test_help_fits_a_screen_of_24_by_80(void **state)
{
	for (const struct command *command = commands; command->name; command++) {
		unsigned lines = 0;
		size_t width = 0;

		for (const char *p = command->usage; *p; p++) {
			width = *p == '\n' ? 0 : width + 1;
			lines += *p == '\n';
			assert_true(width <= 80);
		}
		/* One line is the prompt's. */
		assert_true(lines <= 23);
		assert_true(strlen(command->name) + strlen(command->summary) < 70);
	}
}

static void test_commands_are_found_by_their_whole_name(void **state)
{
	assert_ptr_equal(command_find("run"), &commands[0]);
	assert_null(command_find("ru"));
	assert_null(command_find("run "));
	assert_null(command_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help_fits_a_screen_of_24_by_80),
		cmocka_unit_test(test_commands_are_found_by_their_whole_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
