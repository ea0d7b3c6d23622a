#include "wire/report.h"

#include "base/macro.h"

#include "base/unit.h"

static struct report report;

/* Reads a string literal, without its NUL. */
#define READ(literal) report_parse(literal, sizeof(literal) - 1, &report)

static void assert_text(enum report_tag tag, const char *text)
{
	assert_int_equal(report.text[tag].n, strlen(text));
	assert_memory_equal(report.text[tag].p, text, strlen(text));
}

static void assert_empty(void)
{
	for (size_t i = 0; i < REPORT_TAG_MAX; i++)
		assert_int_equal(report.text[i].n, 0);
}

static void test_records_are_read_until_the_end_tag(void **state)
{
	READ("\1\3\0\0\0"
	     "Key"
	     "\2\2\0\0\0"
	     "no"
	     "\3\4\0\0\0"
	     "a\nb\n"
	     "\0"
	     "\1\1\0\0\0"
	     "X");
	assert_text(REPORT_ERROR_NAME, "Key");
	assert_text(REPORT_ERROR_VALUE, "no");
	assert_text(REPORT_ERROR_TRACEBACK, "a\nb\n");
}

static void test_any_order_and_missing_records_are_fine(void **state)
{
	READ("\2\1\0\0\0"
	     "v");
	assert_int_equal(report.text[REPORT_ERROR_NAME].n, 0);
	assert_text(REPORT_ERROR_VALUE, "v");
	READ("\3\0\0\0\0"
	     "\1\1\0\0\0"
	     "n");
	assert_text(REPORT_ERROR_NAME, "n");
	assert_int_equal(report.text[REPORT_ERROR_VALUE].n, 0);
}

static void test_an_untouched_report_is_empty(void **state)
{
	static const char zeros[4096];

	memset(&report, 0xaa, sizeof(report));
	report_parse(zeros, sizeof(zeros), &report);
	assert_empty();
	memset(&report, 0xaa, sizeof(report));
	report_parse(zeros, 0, &report);
	assert_empty();
	report_parse(NULL, 0, &report);
	assert_empty();
}

static void test_every_cut_keeps_what_came_before(void **state)
{
	static const char whole[] = "\1\3\0\0\0"
				    "Key"
				    "\2\2\0\0\0"
				    "no";

	for (size_t size = 0; size < sizeof(whole) - 1; size++) {
		report_parse(whole, size, &report);
		assert_int_equal(report.text[REPORT_ERROR_NAME].n, size >= 8 ? 3 : 0);
		assert_int_equal(report.text[REPORT_ERROR_VALUE].n, 0);
	}
}

static void test_hostile_lengths_end_the_reading(void **state)
{
	READ("\1\1\0\0\0"
	     "k"
	     "\2\xff\xff\xff\xff"
	     "abc");
	assert_text(REPORT_ERROR_NAME, "k");
	assert_int_equal(report.text[REPORT_ERROR_VALUE].n, 0);
	READ("\1\0\0\0\x80"
	     "abc");
	assert_empty();
	READ("\1\4\0\0\0"
	     "abc");
	assert_empty();
	READ("\1\0\1\0\0"
	     "abc");
	assert_empty();
}

static void test_unknown_tags_end_the_reading(void **state)
{
	READ("\4\1\0\0\0"
	     "x"
	     "\1\1\0\0\0"
	     "k");
	assert_empty();
	READ("\xff\1\0\0\0"
	     "x"
	     "\1\1\0\0\0"
	     "k");
	assert_empty();
}

static void test_lengths_are_little_endian(void **state)
{
	static char data[5 + 0x0201];

	data[0] = REPORT_ERROR_TRACEBACK;
	data[1] = 1;
	data[2] = 2;
	report_parse(data, sizeof(data), &report);
	assert_int_equal(report.text[REPORT_ERROR_TRACEBACK].n, 0x0201);
	assert_ptr_equal(report.text[REPORT_ERROR_TRACEBACK].p, data + 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_are_read_until_the_end_tag),
		cmocka_unit_test(test_any_order_and_missing_records_are_fine),
		cmocka_unit_test(test_an_untouched_report_is_empty),
		cmocka_unit_test(test_every_cut_keeps_what_came_before),
		cmocka_unit_test(test_hostile_lengths_end_the_reading),
		cmocka_unit_test(test_unknown_tags_end_the_reading),
		cmocka_unit_test(test_lengths_are_little_endian),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
