#include "base/utf8.h"

#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>

#define R "\xef\xbf\xbd"

struct repair {
	struct str from;
	const char *to;
};

/* Answers of Python's bytes.decode(errors="replace"), which follows the same section. */
static const struct repair repairs[] = {
	{ { "", 0 }, "" },
	{ { "plain", 5 }, "plain" },
	{ { "\xd0\x9f\xe2\x82\xac\xf0\x9f\x94\x94", 9 }, "\xd0\x9f\xe2\x82\xac\xf0\x9f\x94\x94" },
	{ { "a\x80\xff"
	    "b",
		  4 },
		"a" R R "b" },
	{ { "\xc0\xaf", 2 }, R R },		/* overlong */
	{ { "\xe0\x80\xaf", 3 }, R R R },	/* overlong */
	{ { "\xed\xa0\x80", 3 }, R R R },	/* surrogate */
	{ { "\xf4\x90\x80\x80", 4 }, R R R R }, /* over U+10FFFF */
	{ { "\xf1\x80\x80\xe1\x80\xc2"
	    "b",
		  7 },
		R R R "b" }, /* the example of the Unicode Standard, table 3-8 */
	{ { "\xf0\x9f\x94", 3 }, R },
	{ { "\xe2\x82"
	    "x",
		  3 },
		R "x" },
};

static void test_repairs_as_the_standard_says(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(repairs); i++) {
		const struct repair *row = &repairs[i];
		AUTO_BUF struct buf b = BUF_INIT(100);

		assert_int_equal(utf8_repair(&b, row->from.p, row->from.n), 0);
		assert_string_equal(buf_get_cstr(&b), row->to);
		assert_true(utf8_is_valid(b.data, b.len));
		assert_int_equal(utf8_is_valid(row->from.p, row->from.n),
			str_eq(row->from, str_from(row->to)));
	}
}

static void test_nul_is_a_character(void **state)
{
	AUTO_BUF struct buf b = BUF_INIT(100);

	assert_int_equal(utf8_repair(&b, "a\0b", 3), 0);
	assert_int_equal(b.len, 3);
	assert_true(utf8_is_valid("\0", 1));
}

static void test_repair_reports_a_full_buffer(void **state)
{
	AUTO_BUF struct buf b = BUF_INIT(2);

	assert_int_equal(utf8_repair(&b, "\xff", 1), -ENOBUFS);
}

/* A bell cut at every place: what is held back and what follows give the whole again. */
static void test_unfinished(void **state)
{
	static const char bell[] = "a\xf0\x9f\x94\x94";
	static const size_t held[] = { 0, 0, 1, 2, 3, 0 };

	for (size_t n = 0; n <= 5; n++)
		assert_int_equal(utf8_unfinished(bell, n), held[n]);
	assert_int_equal(utf8_unfinished("\x80\x80\x80\x80", 4), 0);
	assert_int_equal(utf8_unfinished("x\xed\xa0", 3), 0);
	assert_int_equal(utf8_unfinished("x\xff", 2), 0);
	assert_int_equal(utf8_unfinished("\xd0", 1), 1);
}

static void test_what_may_be_shown(void **state)
{
	static const char *const hidden[] = { "", "\x01", "\n", "\x7f", "\xc2\x80", "\xc2\x9f",
		"\xd8\x9c", "\xe2\x80\x8b", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xae",
		"\xe2\x81\xa0", "\xe2\x81\xaf", "\xef\xbb\xbf", "\xff", "\xe2\x80", "\xc2" };
	static const char *const shown[] = { "a", " ", "~", "\xc2\xa0", "\xd8\x9b", "\xe2\x80\x8a",
		"\xe2\x80\xaf", "\xe2\x81\x9f", "\xef\xbb\xbe", "\xf0\x9f\xa6\x8a" };

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		assert_int_equal(utf8_shown(hidden[i], strlen(hidden[i])), 0);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		assert_int_equal(utf8_shown(shown[i], strlen(shown[i])), strlen(shown[i]));
	assert_int_equal(utf8_shown("\xc3\xa9x", 3), 2);
}

static void test_a_text_is_cleaned_in_its_place(void **state)
{
	char text[] = "a\x1b[31m\xc3\xa9\xff\n\xe2\x80\xae.";

	utf8_clean(text);
	assert_string_equal(text, "a?[31m\xc3\xa9??"
				  "???.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_may_be_shown),
		cmocka_unit_test(test_a_text_is_cleaned_in_its_place),
		cmocka_unit_test(test_repairs_as_the_standard_says),
		cmocka_unit_test(test_nul_is_a_character),
		cmocka_unit_test(test_repair_reports_a_full_buffer),
		cmocka_unit_test(test_unfinished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
