#include "jail/plan/syscalls.h"

#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>

/* The sense of the tables; that the names are calls is checked where libseccomp is linked
 * (jail/outside/filter_test.c). */

static const struct denied_syscall *denied;
static size_t n_denied;
static const struct socket_family *families;
static size_t n_families;

static int tables_get(void **state)
{
	denied = denied_syscalls_get(&n_denied);
	families = socket_families_get(&n_families);
	return 0;
}

/* A reason is printed in one line of a table. */
static bool is_reason(const char *reason)
{
	return strlen(reason) >= 5 && strlen(reason) <= 100 && !strchr(reason, '\n');
}

static void test_every_line_has_a_name_and_a_reason(void **state)
{
	assert_true(n_denied >= 90);
	for (size_t i = 0; i < n_denied; i++) {
		const char *name = denied[i].name;

		assert_true(strlen(name) >= 3);
		assert_int_equal(
			strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
		if (!is_reason(denied[i].reason))
			fail_msg("%s: '%s'", name, denied[i].reason);
	}
}

static void test_answers_are_named_as_they_are_numbered(void **state)
{
	static const struct {
		const char *name;
		int error;
	} answers[] = { { "EPERM", EPERM }, { "ENOSYS", ENOSYS }, { "ENOMEM", ENOMEM },
		{ "EINVAL", EINVAL }, { "ENODEV", ENODEV }, { "ENOPROTOOPT", ENOPROTOOPT },
		{ "0", 0 } };

	for (size_t i = 0; i < n_denied; i++) {
		bool is_known = false;

		for (size_t j = 0; j < ARRAY_SIZE(answers); j++) {
			if (strcmp(denied[i].answer, answers[j].name) != 0)
				continue;
			assert_int_equal(denied[i].error, answers[j].error);
			is_known = true;
		}
		if (!is_known)
			fail_msg("%s answers %s", denied[i].name, denied[i].answer);
	}
}

/* Else the filter would compile a second block for the same call, which nothing reaches. */
static void test_lines_of_one_call_are_neighbours(void **state)
{
	for (size_t i = 1; i < n_denied; i++) {
		if (strcmp(denied[i].name, denied[i - 1].name) == 0)
			continue;
		for (size_t j = 0; j + 1 < i; j++) {
			if (strcmp(denied[i].name, denied[j].name) == 0)
				fail_msg("%s stands apart", denied[i].name);
		}
	}
}

static bool is_always(const struct denied_syscall *rule)
{
	return rule->conditions[0].op == SYSCALL_ALWAYS;
}

static void test_a_call_is_denied_always_or_by_its_argument(void **state)
{
	for (size_t i = 1; i < n_denied; i++) {
		if (strcmp(denied[i].name, denied[i - 1].name) != 0)
			continue;
		if (is_always(&denied[i]) || is_always(&denied[i - 1]))
			fail_msg("%s is there twice", denied[i].name);
	}
}

static void condition_can_hold_and_can_fail(const struct syscall_condition *when)
{
	assert_true(when->argument < 6);
	if (when->op == SYSCALL_ALWAYS || when->op == SYSCALL_SET)
		return;
	assert_true(when->mask != 0);
	if (when->op == SYSCALL_ANY)
		assert_int_equal(when->value, 0);
	else
		assert_int_equal(when->value & ~when->mask, 0);
}

static void test_conditions_can_hold_and_can_fail(void **state)
{
	for (size_t i = 0; i < n_denied; i++) {
		for (size_t j = 0; j < SYSCALL_CONDITIONS; j++)
			condition_can_hold_and_can_fail(&denied[i].conditions[j]);
		/* a second condition without a first would be taken for "always" */
		if (is_always(&denied[i]))
			assert_int_equal(denied[i].conditions[1].op, SYSCALL_ALWAYS);
	}
}

/* With a second "not equal" line one of the two would always hold. */
static void test_not_equal_stands_alone(void **state)
{
	for (size_t i = 0; i < n_denied; i++) {
		if (denied[i].conditions[0].op != SYSCALL_NE)
			continue;
		for (size_t j = 0; j < n_denied; j++)
			assert_true(i == j || denied[j].conditions[0].op != SYSCALL_NE ||
				    strcmp(denied[i].name, denied[j].name) != 0);
	}
}

static void test_the_socket_calls_have_a_table_of_their_own(void **state)
{
	for (size_t i = 0; i < n_denied; i++) {
		assert_string_not_equal(denied[i].name, "socket");
		assert_string_not_equal(denied[i].name, "socketpair");
	}
}

static void test_the_families_are_these_three(void **state)
{
	static const struct {
		uint32_t number;
		const char *name;
		uint32_t protocols;
	} expected[] = {
		{ AF_UNIX, "unix", 1u << 0 | 1u << PF_UNIX },
		{ AF_INET, "inet", 1u << 0 | 1u << 6 | 1u << 17 },
		{ AF_INET6, "inet6", 1u << 0 | 1u << 6 | 1u << 17 },
	};

	assert_int_equal(n_families, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < n_families; i++) {
		assert_int_equal(families[i].number, expected[i].number);
		assert_string_equal(families[i].name, expected[i].name);
		assert_int_equal(families[i].protocols, expected[i].protocols);
		assert_true(is_reason(families[i].reason));
	}
}

static void test_the_reviewed_numbers_are_ranges_in_order(void **state)
{
	size_t n;
	const struct syscall_range *ranges = syscalls_reviewed_get(&n);

	assert_true(n >= 2);
	assert_int_equal(ranges[0].first, 0);
	assert_int_equal(ranges[n - 1].last, SYSCALL_CEILING);
	for (size_t i = 0; i < n; i++) {
		assert_true(ranges[i].first <= ranges[i].last);
		assert_true(i == 0 || ranges[i].first > ranges[i - 1].last + 1);
		assert_true(syscall_is_reviewed(ranges[i].first));
		assert_true(syscall_is_reviewed(ranges[i].last));
		assert_false(syscall_is_reviewed(ranges[i].last + 1));
	}
	assert_false(syscall_is_reviewed(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_line_has_a_name_and_a_reason),
		cmocka_unit_test(test_answers_are_named_as_they_are_numbered),
		cmocka_unit_test(test_lines_of_one_call_are_neighbours),
		cmocka_unit_test(test_a_call_is_denied_always_or_by_its_argument),
		cmocka_unit_test(test_conditions_can_hold_and_can_fail),
		cmocka_unit_test(test_not_equal_stands_alone),
		cmocka_unit_test(test_the_socket_calls_have_a_table_of_their_own),
		cmocka_unit_test(test_the_families_are_these_three),
		cmocka_unit_test(test_the_reviewed_numbers_are_ranges_in_order),
	};

	return cmocka_run_group_tests(tests, tables_get, NULL);
}
