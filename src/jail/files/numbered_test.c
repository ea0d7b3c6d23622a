#include "jail/files/numbered.h"

#include "base/str.h"
#include "base/unit.h"
#include "base/utf8.h"

#include <string.h>

static void numbered(const char *name, unsigned n, const char *expected)
{
	char result[NAME_MAX + 1];

	numbered_name(name, n, result);
	assert_string_equal(result, expected);
}

static void test_B6_the_number_stands_before_the_extension(void **state)
{
	numbered("chart.png", 1, "chart.png");
	numbered("chart.png", 2, "chart (2).png");
	numbered("chart.png", 9999, "chart (9999).png");
	numbered("archive.tar.gz", 3, "archive (3).tar.gz");
	numbered("no extension", 2, "no extension (2)");
	numbered(".bashrc", 2, ".bashrc (2)");
	numbered(".tar.gz", 2, ".tar (2).gz");
	numbered("dot at the end.", 2, "dot at the end. (2)");
	numbered("Dr. Who and a long sentence", 2, "Dr. Who and a long sentence (2)");
	numbered("a\nb.txt", 2, "a\nb (2).txt");
	numbered("", 2, " (2)");
}

static void test_a_long_name_loses_whole_characters(void **state)
{
	char name[NAME_MAX + 1], result[NAME_MAX + 1];

	/* 124 two-byte letters and an extension of 7: 255 bytes. */
	for (size_t i = 0; i < 248; i += 2)
		memcpy(name + i, "\xd0\x96", 2);
	memcpy(name + 248, ".sqlite", 8);
	numbered_name(name, 10, result);
	assert_true(strlen(result) <= NAME_MAX);
	assert_true(utf8_is_valid(result, strlen(result)));
	assert_true(str_ends(str_from(result), STR(" (10).sqlite")));
}

static void test_a_long_name_that_is_no_text_still_fits(void **state)
{
	char name[NAME_MAX + 1], result[NAME_MAX + 1];

	memset(name, 0xff, NAME_MAX);
	name[NAME_MAX] = '\0';
	numbered_name(name, 2, result);
	assert_int_equal(strlen(result), NAME_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_B6_the_number_stands_before_the_extension),
		cmocka_unit_test(test_a_long_name_loses_whole_characters),
		cmocka_unit_test(test_a_long_name_that_is_no_text_still_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
