#include "sandbox/output.h"

#include "base/alloc.h"
#include "base/unit.h"

#include <string.h>

#define HALF 8u

/* The text of n bytes that come in chunks of `step`, with eight bytes kept at each end. */
static uint64_t keep(const char *p, size_t n, size_t step, struct buf *out)
{
	struct output output;
	uint64_t dropped = 99;

	output_init(&output, HALF);
	for (size_t at = 0; at < n; at += step)
		output_feed(&output, p + at, n - at < step ? n - at : step);
	assert_int_equal(output_text(&output, out, &dropped), 0);
	assert_int_equal(output.bytes, n);
	output_fini(&output);
	return dropped;
}

/* Whatever the chunks are, the text is the same. */
static void kept(const char *p, size_t n, const char *expected, uint64_t dropped)
{
	for (size_t step = 1; step <= n + 1; step++) {
		AUTO_BUF struct buf out = BUF_INIT(OUTPUT_TEXT_MAX(HALF));

		assert_int_equal(keep(p, n, step, &out), dropped);
		assert_string_equal(buf_get_cstr(&out), expected);
	}
}

static void test_nothing_is_an_empty_text(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(OUTPUT_TEXT_MAX(HALF));

	assert_int_equal(keep("", 0, 1, &out), 0);
	assert_string_equal(buf_get_cstr(&out), "");
}

static void test_what_fits_is_whole(void **state)
{
	kept("abc", 3, "abc", 0);
	kept("12345678", 8, "12345678", 0);
	kept("123456789", 9, "123456789", 0);
	kept("1234567890abcdef", 16, "1234567890abcdef", 0);
}

static void test_the_middle_is_left_out_and_counted(void **state)
{
	kept("1234567890abcdefg", 17, "12345678\n... 1 bytes left out ...\n0abcdefg", 1);
	kept("12345678----------------------------abcdefgh", 44,
		"12345678\n... 28 bytes left out ...\nabcdefgh", 28);
}

static void test_a_character_across_the_halves_is_whole(void **state)
{
	/* 7 bytes, then a euro sign of 3: its first byte is the head's last. */
	kept("1234567\xe2\x82\xac"
	     "abc",
		13,
		"1234567\xe2\x82\xac"
		"abc",
		0);
}

static void test_no_character_is_cut_at_the_gap(void **state)
{
	/* The head ends with one byte of a euro sign; the tail starts with the rest of another. */
	kept("1234567\xe2\x82\xac......\xe2\x82\xac"
	     "abcdef",
		25, "1234567\n... 12 bytes left out ...\nabcdef", 12);
}

static void test_bytes_that_are_no_text_are_repaired_once(void **state)
{
	kept("a\xff\xfez", 4, "a\xef\xbf\xbd\xef\xbf\xbdz", 0);
	/* A surrogate, as Python's surrogateescape makes them: one mark for each byte. */
	kept("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 0);
	/* An unfinished character at the very end is one mark. */
	kept("ab\xf0\x9f\x98", 5, "ab\xef\xbf\xbd", 0);
}

static void test_garbage_cannot_overflow_the_text(void **state)
{
	char bytes[200];

	memset(bytes, 0xff, sizeof(bytes));
	for (size_t step = 1; step < 40; step++) {
		AUTO_BUF struct buf out = BUF_INIT(OUTPUT_TEXT_MAX(HALF));

		assert_int_equal(keep(bytes, sizeof(bytes), step, &out), 184);
	}
	memset(bytes, 0x80, sizeof(bytes));
	for (size_t step = 1; step < 40; step++) {
		AUTO_BUF struct buf out = BUF_INIT(OUTPUT_TEXT_MAX(HALF));

		/* Three continuation bytes at the tail's start are taken for a cut character. */
		assert_int_equal(keep(bytes, sizeof(bytes), step, &out), 187);
	}
}

static void test_nul_is_a_byte_like_others(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(OUTPUT_TEXT_MAX(HALF));

	assert_int_equal(keep("a\0b", 3, 1, &out), 0);
	assert_int_equal(out.len, 3);
	assert_memory_equal(out.data, "a\0b", 3);
}

static void test_memory_is_flat_under_a_flood(void **state)
{
	AUTO_FREE char *chunk = xmalloc(1 << 20);
	AUTO_BUF struct buf out = BUF_INIT(OUTPUT_TEXT_MAX(OUTPUT_HALF_BYTES));
	struct output output;
	uint64_t dropped;

	memset(chunk, 'x', 1 << 20);
	output_init(&output, OUTPUT_HALF_BYTES);
	for (int i = 0; i < 200; i++)
		output_feed(&output, chunk, 1 << 20);
	assert_true(output.head.cap <= OUTPUT_HALF_BYTES + 1);
	assert_int_equal(output_text(&output, &out, &dropped), 0);
	assert_int_equal(dropped, (200u << 20) - 2 * OUTPUT_HALF_BYTES);
	assert_true(out.len < 2 * OUTPUT_HALF_BYTES + 64);
	output_fini(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_an_empty_text),
		cmocka_unit_test(test_what_fits_is_whole),
		cmocka_unit_test(test_the_middle_is_left_out_and_counted),
		cmocka_unit_test(test_a_character_across_the_halves_is_whole),
		cmocka_unit_test(test_no_character_is_cut_at_the_gap),
		cmocka_unit_test(test_bytes_that_are_no_text_are_repaired_once),
		cmocka_unit_test(test_garbage_cannot_overflow_the_text),
		cmocka_unit_test(test_nul_is_a_byte_like_others),
		cmocka_unit_test(test_memory_is_flat_under_a_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
