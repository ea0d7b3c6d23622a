#include "launch/id_range.h"

#include "base/macro.h"

#include "base/unit.h"

#include <errno.h>

static uint32_t first, count;

static int parse(const char *text, const char *name, uint32_t uid)
{
	first = count = 4711;
	return id_range_parse(str_from(text), name, uid, &first, &count);
}

static void assert_range(uint32_t expected_first, uint32_t expected_count)
{
	assert_int_equal(first, expected_first);
	assert_int_equal(count, expected_count);
}

static void test_the_users_line_is_found_by_name_or_number(void **state)
{
	static const char text[] = "root:100000:65536\nann:165536:65536\n1001:231072:65536\n";

	assert_int_equal(parse(text, "ann", 1000), 0);
	assert_range(165536, 65536);
	assert_int_equal(parse(text, "bob", 1001), 0);
	assert_range(231072, 65536);
	assert_int_equal(parse(text, "root", 0), 0);
	assert_range(100000, 65536);
}

static void test_the_first_of_several_ranges_counts(void **state)
{
	assert_int_equal(parse("ann:1000:100\n1000:2000:200\n", "ann", 1000), 0);
	assert_range(1000, 100);
	assert_int_equal(parse("1000:2000:200\nann:1000:100\n", "ann", 1000), 0);
	assert_range(2000, 200);
}

static void test_a_range_that_is_too_small_is_passed_over(void **state)
{
	assert_int_equal(parse("ann:1000:63\n", "ann", 1000), -ENOENT);
	assert_int_equal(parse("ann:1000:0\nann:2000:63\nann:3000:64\n", "ann", 1000), 0);
	assert_range(3000, 64);
}

static void test_more_ids_than_we_use_are_left(void **state)
{
	assert_int_equal(parse("ann:1000:1000000000\n", "ann", 1000), 0);
	assert_range(1000, ID_RANGE_COUNT);
}

static void test_others_have_no_part_in_it(void **state)
{
	static const char *const texts[] = { "", "\n", "anna:1000:65536\n", "an:1000:65536\n",
		"Ann:1000:65536\n", "10000:1000:65536\n", ":1000:65536\n", "bob:1000:65536" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(parse(texts[i], "ann", 1000), -ENOENT);
		assert_range(4711, 4711);
	}
}

static void test_malformed_lines_are_skipped(void **state)
{
	static const char text[] = "ann\nann:\nann:1\nann::65536\nann:1000:\nann:x:65536\n"
				   "ann:-1:65536\nann:1000:65536:7\nann:1000:65536x\n"
				   "ann:4294967296:65536\nann:1000:4294967296\n"
				   "ann:0x1000:65536\nann: 1000:65536\n"
				   "# ann:1000:65536\nann:7000:700\n";

	assert_int_equal(parse(text, "ann", 1000), 0);
	assert_range(7000, 700);
}

static void test_blanks_around_a_line_and_no_last_newline(void **state)
{
	assert_int_equal(parse("\n\n  ann:1000:100 \t\r\n", "ann", 1000), 0);
	assert_range(1000, 100);
	assert_int_equal(parse("ann:1000:100", "ann", 1000), 0);
	assert_range(1000, 100);
}

static void test_text_is_no_c_string(void **state)
{
	static const char text[] = "a\0b:1:1\nann:1000:100\nann:5";

	first = count = 0;
	assert_int_equal(
		id_range_parse((struct str){ text, sizeof(text) - 6 }, "ann", 1000, &first, &count),
		0);
	assert_range(1000, 100);
}

static int overlaps(const char *text, uint32_t from, uint32_t n)
{
	return id_range_overlaps(str_from(text), from, n);
}

static void test_overlaps_at_every_edge(void **state)
{
	static const char text[] = "ann:1000:100\n";

	assert_int_equal(overlaps(text, 900, 100), 0);
	assert_int_equal(overlaps(text, 900, 101), 1);
	assert_int_equal(overlaps(text, 1000, 1), 1);
	assert_int_equal(overlaps(text, 1000, 100), 1);
	assert_int_equal(overlaps(text, 1050, 10), 1);
	assert_int_equal(overlaps(text, 1099, 1), 1);
	assert_int_equal(overlaps(text, 1100, 100), 0);
	assert_int_equal(overlaps(text, 0, UINT32_MAX), 1);
	assert_int_equal(overlaps(text, 500, 10000), 1);
}

static void test_overlaps_at_the_end_of_all_ids(void **state)
{
	assert_int_equal(overlaps("ann:4294967295:4294967295\n", UINT32_MAX - 65536, 65536), 0);
	assert_int_equal(overlaps("ann:4294967294:1\n", UINT32_MAX - 65536, 65536), 1);
	assert_int_equal(overlaps("ann:0:4294967295\n", UINT32_MAX - 65536, 65536), 1);
	assert_int_equal(overlaps("ann:4294901760:65536\n", UINT32_MAX, 1), 1);
}

static void test_overlaps_looks_at_every_line(void **state)
{
	assert_int_equal(overlaps("", 1000, 100), 0);
	assert_int_equal(overlaps("a:1:1\nbroken\nb:5000:10\nc:1050:1", 1000, 100), 1);
	assert_int_equal(overlaps("a:1:1\nbroken\nb:5000:10\nc:2050:1", 1000, 100), 0);
	assert_int_equal(overlaps("# a:1050:1:\nx:1050:y\n", 1000, 100), 0);
}

static uint32_t chosen(const char *uids, const char *gids)
{
	uint32_t start = 0;

	assert_int_equal(id_range_choose(str_from(uids), str_from(gids), &start), 0);
	return start;
}

static void test_root_takes_the_first_range_that_is_nobodys(void **state)
{
	uint32_t start = 7;

	assert_int_equal(chosen("", ""), ID_BASE);
	assert_int_equal(chosen("ann:100000:65536\n", "ann:100000:65536\n"), ID_BASE);
	assert_int_equal(chosen("ann:1879048192:1\n", ""), ID_BASE + ID_BASE_STEP);
	assert_int_equal(chosen("", "ann:1879113727:1\n"), ID_BASE + ID_BASE_STEP);
	assert_int_equal(
		chosen("ann:1879048192:1\n", "bob:1879179264:1\n"), ID_BASE + 2 * ID_BASE_STEP);
	assert_int_equal(
		id_range_choose(STR("ann:1000000:4000000000\n"), STR(""), &start), -EADDRINUSE);
	assert_int_equal(start, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_users_line_is_found_by_name_or_number),
		cmocka_unit_test(test_the_first_of_several_ranges_counts),
		cmocka_unit_test(test_a_range_that_is_too_small_is_passed_over),
		cmocka_unit_test(test_more_ids_than_we_use_are_left),
		cmocka_unit_test(test_others_have_no_part_in_it),
		cmocka_unit_test(test_malformed_lines_are_skipped),
		cmocka_unit_test(test_blanks_around_a_line_and_no_last_newline),
		cmocka_unit_test(test_text_is_no_c_string),
		cmocka_unit_test(test_overlaps_at_every_edge),
		cmocka_unit_test(test_overlaps_at_the_end_of_all_ids),
		cmocka_unit_test(test_overlaps_looks_at_every_line),
		cmocka_unit_test(test_root_takes_the_first_range_that_is_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
