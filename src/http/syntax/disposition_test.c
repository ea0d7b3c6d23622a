#include "http/syntax/disposition.h"

#include "base/unit.h"

static void check(struct str path, const char *expected)
{
	char value[DISPOSITION_SIZE];

	disposition_make(path, value);
	assert_string_equal(value, expected);
}

static void test_names(void **state)
{
	check(STR("a.csv"), "attachment; filename=\"a.csv\"");
	check(STR("dir/sub/a b.csv"), "attachment; filename=\"a b.csv\"");
	check(STR("a\"b"), "attachment; filename=\"a_b\"; filename*=UTF-8''a%22b");
	check(STR("\xc3\xa9.txt"), "attachment; filename=\"__.txt\"; filename*=UTF-8''%C3%A9.txt");
	check(STR("a\r\nX: y"),
		"attachment; filename=\"a__X_ y\"; filename*=UTF-8''a%0D%0AX%3A%20y");
	check(STR("\xff"), "attachment; filename=\"_\"; filename*=UTF-8''%EF%BF%BD");
}

/* The longest name there is, of the worst bytes: the value is whole. */
static void test_longest(void **state)
{
	char name[300], value[DISPOSITION_SIZE];

	memset(name, '"', sizeof(name));
	disposition_make((struct str){ name, 255 }, value);
	assert_int_equal(strlen(value), 22 + 255 + 1 + 19 + 3 * 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
