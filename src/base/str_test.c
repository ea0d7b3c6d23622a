#include "base/str.h"

#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>

static void test_slices_compare_by_bytes(void **state)
{
	assert_true(str_eq(str_from("abc"), STR("abc")));
	assert_true(str_eq(str_from(NULL), STR("")));
	assert_false(str_eq(STR("a\0b"), STR("a\0c")));
	assert_true(str_starts(STR("main.py"), STR("main")));
	assert_false(str_starts(STR("ma"), STR("main")));
	assert_true(str_ends(STR("main.py"), STR(".py")));
	assert_false(str_ends(STR("y"), STR(".py")));
	assert_true(str_ends(STR(""), STR("")));
}

static void test_trim(void **state)
{
	assert_true(str_eq(str_trim(STR(" \t a b \r\n")), STR("a b")));
	assert_int_equal(str_trim(STR(" \n")).n, 0);
}

static void test_split_once(void **state)
{
	struct str left, right;

	assert_true(str_split_once(STR("a=b=c"), '=', &left, &right));
	assert_true(str_eq(left, STR("a")) && str_eq(right, STR("b=c")));
	assert_true(str_split_once(STR("="), '=', &left, &right));
	assert_true(left.n == 0 && right.n == 0);
	assert_false(str_split_once(STR("abc"), '=', &left, &right));
	assert_true(str_eq(left, STR("abc")) && right.n == 0);
	assert_false(str_split_once(str_from(NULL), '=', &left, &right));
}

static void test_split_may_write_over_its_input(void **state)
{
	struct str part, rest = STR("a/b/c");

	assert_true(str_split_once(rest, '/', &part, &rest));
	assert_true(str_eq(rest, STR("b/c")));
	assert_true(str_split_once(rest, '/', &rest, &part));
	assert_true(str_eq(rest, STR("b")) && str_eq(part, STR("c")));
}

static void test_u64(void **state)
{
	uint64_t v = 77;

	assert_int_equal(str_to_u64(STR("18446744073709551615"), UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(str_to_u64(STR("18446744073709551616"), UINT64_MAX, &v), -ERANGE);
	assert_int_equal(str_to_u64(STR("36893488147419103232"), UINT64_MAX, &v), -ERANGE);
	assert_int_equal(str_to_u64(STR("007"), 7, &v), 0);
	assert_int_equal(v, 7);
	assert_int_equal(str_to_u64(STR("8"), 7, &v), -ERANGE);
	assert_int_equal(v, 7);
}

static void test_u64_refuses_what_is_no_number(void **state)
{
	static const char *const bad[] = { "", " 1", "1 ", "+1", "-1", "0x1", "1e3", "1.0", "1\n",
		"99999999999999999999999x" };
	uint64_t v;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(str_to_u64(str_from(bad[i]), UINT64_MAX, &v), -EINVAL);
	assert_int_equal(str_to_u64(STR("1\0"), UINT64_MAX, &v), -EINVAL);
}

static void test_i64(void **state)
{
	int64_t v;

	assert_int_equal(str_to_i64(STR("-9223372036854775808"), INT64_MIN, INT64_MAX, &v), 0);
	assert_true(v == INT64_MIN);
	assert_int_equal(str_to_i64(STR("9223372036854775807"), INT64_MIN, INT64_MAX, &v), 0);
	assert_true(v == INT64_MAX);
	assert_int_equal(str_to_i64(STR("9223372036854775808"), INT64_MIN, INT64_MAX, &v), -ERANGE);
	assert_int_equal(
		str_to_i64(STR("-9223372036854775809"), INT64_MIN, INT64_MAX, &v), -ERANGE);
	assert_int_equal(str_to_i64(STR("-5"), -4, 4, &v), -ERANGE);
	assert_int_equal(str_to_i64(STR("5"), -4, 4, &v), -ERANGE);
	assert_int_equal(str_to_i64(STR("-"), -4, 4, &v), -EINVAL);
	assert_int_equal(str_to_i64(STR("--1"), -4, 4, &v), -EINVAL);
	assert_int_equal(str_to_i64(STR("-0"), -4, 4, &v), 0);
	assert_int_equal(v, 0);
}

static void test_size(void **state)
{
	uint64_t v;

	assert_int_equal(str_to_size(STR("256M"), UINT64_MAX, &v), 0);
	assert_int_equal(v, 256 << 20);
	assert_int_equal(str_to_size(STR("4096"), 4096, &v), 0);
	assert_int_equal(v, 4096);
	assert_int_equal(str_to_size(STR("1T"), UINT64_MAX, &v), 0);
	assert_true(v == (uint64_t)1 << 40);
	assert_int_equal(str_to_size(STR("2K"), 2047, &v), -ERANGE);
	assert_int_equal(str_to_size(STR("18014398509481984K"), UINT64_MAX, &v), -ERANGE);
	assert_int_equal(str_to_size(STR("M"), UINT64_MAX, &v), -EINVAL);
	assert_int_equal(str_to_size(STR("1KM"), UINT64_MAX, &v), -EINVAL);
	assert_int_equal(str_to_size(STR("1m"), UINT64_MAX, &v), -EINVAL);
	assert_int_equal(str_to_size(STR(""), UINT64_MAX, &v), -EINVAL);
}

static void test_seconds(void **state)
{
	uint64_t v;

	assert_int_equal(str_to_ms(STR("30"), 30000, &v), 0);
	assert_int_equal(v, 30000);
	assert_int_equal(str_to_ms(STR("1.5"), 30000, &v), 0);
	assert_int_equal(v, 1500);
	assert_int_equal(str_to_ms(STR("0.025"), 30000, &v), 0);
	assert_int_equal(v, 25);
	assert_int_equal(str_to_ms(STR("30.001"), 30000, &v), -ERANGE);
	assert_int_equal(str_to_ms(STR("18446744073709551.615"), UINT64_MAX, &v), 0);
	assert_int_equal(str_to_ms(STR("18446744073709551.616"), UINT64_MAX, &v), -ERANGE);
	assert_int_equal(str_to_ms(STR("1.2345"), 30000, &v), -EINVAL);
	assert_int_equal(str_to_ms(STR("1."), 30000, &v), -EINVAL);
	assert_int_equal(str_to_ms(STR(".5"), 30000, &v), -EINVAL);
	assert_int_equal(str_to_ms(STR("1.-5"), 30000, &v), -EINVAL);
}

static void test_nothing_is_truncated(void **state)
{
	char text[4];

	assert_int_equal(str_format(text, sizeof(text), "%d", 123), 0);
	assert_string_equal(text, "123");
	assert_int_equal(str_format(text, sizeof(text), "%d", 1234), -ENOSPC);
	assert_string_equal(text, "");
	assert_int_equal(str_copy(text, sizeof(text), "abc"), 0);
	assert_string_equal(text, "abc");
	assert_int_equal(str_copy(text, sizeof(text), "abcd"), -ENOSPC);
	assert_string_equal(text, "");
	assert_int_equal(str_copy(text, 0, ""), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices_compare_by_bytes),
		cmocka_unit_test(test_trim),
		cmocka_unit_test(test_split_once),
		cmocka_unit_test(test_split_may_write_over_its_input),
		cmocka_unit_test(test_u64),
		cmocka_unit_test(test_u64_refuses_what_is_no_number),
		cmocka_unit_test(test_i64),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_nothing_is_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
