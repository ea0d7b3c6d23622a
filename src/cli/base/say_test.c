#include "cli/base/say.h"

#include "base/buf.h"
#include "base/unit.h"

static void shown(struct str name, const char *expected)
{
	AUTO_BUF struct buf out = BUF_INIT(256);

	say_name(&out, name);
	assert_string_equal(buf_get_cstr(&out), expected);
}

static void test_names_of_all_languages_are_shown(void **state)
{
	shown(STR("plain name.txt"), "plain name.txt");
	shown(STR("Выручка 📈.png"), "Выручка 📈.png");
	shown(STR(""), "");
}

static void test_a_name_cannot_move_the_cursor(void **state)
{
	shown(STR("a\nb"), "a\\x0ab");
	shown(STR("\x1b[2Jx"), "\\x1b[2Jx");
	shown(STR("\r\x7f\0"), "\\x0d\\x7f\\x00");
	shown(STR("\xc2\x9b"
		  "31m"),
		"\\xc2\\x9b31m"); /* CSI as one character */
	shown(STR("\xc2\xa0"), "\xc2\xa0");
}

static void test_bytes_that_are_no_text_are_shown_as_numbers(void **state)
{
	shown(STR("\xff"), "\\xff");
	shown(STR("a\xe2\x82"), "a\\xe2\\x82");
	shown(STR("\x80\x80\x80\x80\x80"), "\\x80\\x80\\x80\\x80\\x80");
	shown(STR("\xf0\x9f\x98\x80\x80"), "\xf0\x9f\x98\x80\\x80");
	shown(STR("x\x80y"), "x\\x80y");
}

static void test_a_full_buffer_cuts(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(3);

	say_name(&out, STR("abcdef"));
	assert_true(out.len <= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_all_languages_are_shown),
		cmocka_unit_test(test_a_name_cannot_move_the_cursor),
		cmocka_unit_test(test_bytes_that_are_no_text_are_shown_as_numbers),
		cmocka_unit_test(test_a_full_buffer_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
