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
	READ("\x08\1\0\0\0"
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

static void assert_result(size_t i, const char *mime, const char *value)
{
	assert_true(i < report.n_results);
	assert_true(str_eq(report.results[i].mime, str_from(mime)));
	assert_true(str_eq(report.results[i].value, str_from(value)));
}

static void test_results_are_read_in_order(void **state)
{
	READ("\4\x0e\0\0\0"
	     "\2\x09image/png"
	     "a/b"
	     "\4\x0e\0\0\0"
	     "\1\x0atext/plain"
	     "42"
	     "\4\x0c\0\0\0"
	     "\0\x0atext/plain"
	     "\1\1\0\0\0"
	     "E");
	assert_int_equal(report.n_results, 3);
	assert_result(0, "image/png", "a/b");
	assert_true(report.results[0].is_path && !report.results[0].is_main);
	assert_result(1, "text/plain", "42");
	assert_true(!report.results[1].is_path && report.results[1].is_main);
	assert_result(2, "text/plain", "");
	assert_text(REPORT_ERROR_NAME, "E");
}

static void test_the_last_advice_counts(void **state)
{
	READ("\5\1\0\0\0"
	     "\1"
	     "\5\1\0\0\0"
	     "\xf6");
	assert_int_equal(report.advice, REPORT_ADVICE_FIGURE | REPORT_ADVICE_RESULT);
	READ("\5\2\0\0\0"
	     "\1\1");
	assert_int_equal(report.advice, 0);
}

/* Reads one result record of these bytes and a good one after it; n is how many are told. */
static void assert_left_out(const char *bytes, size_t n_bytes)
{
	static const char good[] = "\4\x06\0\0\0\1\3a/bx";
	static char data[REPORT_SIZE];
	size_t at = 0;

	data[at++] = REPORT_RESULT;
	for (int i = 0; i < 4; i++)
		data[at++] = (char)(n_bytes >> 8 * i);
	memcpy(data + at, bytes, n_bytes);
	memcpy(data + at + n_bytes, good, sizeof(good) - 1);
	report_parse(data, at + n_bytes + sizeof(good) - 1, &report);
	assert_int_equal(report.n_results, 1);
	assert_result(0, "a/b", "x");
}

static void test_results_out_of_order_are_left_out(void **state)
{
	static const struct str bad[] = { STR(""), STR("\1"), STR("\4\3a/bx"), STR("\1\5a/bx"),
		STR("\1\0x"), STR("\1\2a/"), STR("\1\2/a"), STR("\1\3abc"), STR("\1\5a/b/c"),
		STR("\1\3A/b"), STR("\1\4a/b\n"), STR("\1\4a/ b"), STR("\3\3a/b"),
		STR("\1\3a/\xc3") };
	static char large[REPORT_RESULT_TEXT_MAX + 6] = "\1\3a/b";

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_left_out(bad[i].p, bad[i].n);
	assert_left_out(large, sizeof(large));
	large[0] = REPORT_RESULT_PATH;
	assert_left_out(large, REPORT_PATH_MAX + 6);
}

static void test_the_largest_are_taken_and_no_more_of_them_than_fit(void **state)
{
	static const char one[] = "\4\6\0\0\0\1\3a/bx";
	static char data[REPORT_SIZE];
	size_t at = 0, largest = REPORT_RESULT_TEXT_MAX + 5;

	for (int i = 0; i < REPORT_RESULTS_MAX + 10; i++, at += sizeof(one) - 1)
		memcpy(data + at, one, sizeof(one) - 1);
	report_parse(data, sizeof(data), &report);
	assert_int_equal(report.n_results, REPORT_RESULTS_MAX);
	memset(data, 'y', sizeof(data));
	memcpy(data, "\4....\0\3a/b", 10);
	for (int i = 0; i < 4; i++)
		data[1 + i] = (char)(largest >> 8 * i);
	report_parse(data, 5 + largest, &report);
	assert_int_equal(report.n_results, 1);
	assert_int_equal(report.results[0].value.n, REPORT_RESULT_TEXT_MAX);
}

static void test_the_time_of_the_first_instruction(void **state)
{
	READ("\7\x08\0\0\0"
	     "\xe8\x03\0\0\0\0\0\0"
	     "\1\1\0\0\0"
	     "E");
	assert_int_equal(report.begun_us, 1);
	assert_text(REPORT_ERROR_NAME, "E");
	assert_int_equal(report.text[REPORT_BEGUN].n, 0);
	READ("\7\x08\0\0\0"
	     "\xff\xff\xff\xff\xff\xff\xff\xff");
	assert_int_equal(report.begun_us, UINT64_MAX / 1000);
	READ("\7\x07\0\0\0"
	     "\xe8\x03\0\0\0\0\0"
	     "\7\0\0\0\0"
	     "\7\x09\0\0\0"
	     "\xe8\x03\0\0\0\0\0\0\0");
	assert_int_equal(report.begun_us, 0);
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
		cmocka_unit_test(test_results_are_read_in_order),
		cmocka_unit_test(test_the_last_advice_counts),
		cmocka_unit_test(test_the_time_of_the_first_instruction),
		cmocka_unit_test(test_results_out_of_order_are_left_out),
		cmocka_unit_test(test_the_largest_are_taken_and_no_more_of_them_than_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
