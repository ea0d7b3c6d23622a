#include "sandbox/language.h"

#include "base/buf.h"
#include "base/unit.h"

#include <errno.h>

static void guessed(const char *name, const char *code, int expected)
{
	enum package_language language = PACKAGE_LANGUAGE_MAX;
	int r = language_guess(str_from(name), str_from(code), &language);

	assert_int_equal(r < 0 ? r : (int)language, expected);
}

static void test_the_extension_comes_first(void **state)
{
	guessed("a.py", "#!/bin/bash\n", PACKAGE_PYTHON);
	guessed("dir/a.sh", "", PACKAGE_BASH);
	guessed("a.bash", "", PACKAGE_BASH);
}

static void test_the_first_line_tells(void **state)
{
	guessed("a", "#!/usr/bin/env python3\nprint(1)", PACKAGE_PYTHON);
	guessed("a", "#!/usr/bin/env -S python3.11 -u\n", PACKAGE_PYTHON);
	guessed("a.txt", "#! /bin/sh -e\r\n", PACKAGE_BASH);
	guessed("", "#!/usr/local/bin/bash", PACKAGE_BASH);
}

static void test_nothing_is_guessed_from_the_code(void **state)
{
	guessed("a", "import os\n", -ENOENT);
	guessed("a.rb", "#!/usr/bin/ruby\n", -ENOENT);
	guessed("a", "#!", -ENOENT);
	guessed("a", "# python\n#!/bin/bash", -ENOENT);
	guessed("a", "#!/opt/pythonic/ruby python-not-first", PACKAGE_PYTHON);
	guessed("a", "", -ENOENT);
}

static void normalised(enum package_language language, struct str code, struct str expected)
{
	AUTO_BUF struct buf out = BUF_INIT(256);

	assert_int_equal(language_normalise(language, code, &out), 0);
	assert_true(str_eq(buf_get_slice(&out), expected));
}

static void test_B10_carriage_returns_of_bash(void **state)
{
	normalised(PACKAGE_BASH, STR("a\r\nb\r\n"), STR("a\nb\n"));
	normalised(PACKAGE_BASH, STR("a\rb\r"), STR("a\nb\n"));
	normalised(PACKAGE_BASH, STR("a\r\r\nb"), STR("a\n\nb"));
	normalised(PACKAGE_BASH, STR("a\nb"), STR("a\nb"));
	normalised(PACKAGE_BASH, STR("\r"), STR("\n"));
	normalised(PACKAGE_BASH, STR(""), STR(""));
	normalised(PACKAGE_BASH, STR("nul\0in it\r\n"), STR("nul\0in it\n"));
}

static void test_B10_python_is_left_alone(void **state)
{
	normalised(PACKAGE_PYTHON, STR("s = '''a\r\nb'''\r\n"), STR("s = '''a\r\nb'''\r\n"));
}

static void test_names(void **state)
{
	enum package_language language;

	assert_int_equal(language_parse(STR("bash"), &language), 0);
	assert_string_equal(language_name(language), "bash");
	assert_int_equal(language_parse(STR("Python"), &language), -EINVAL);
	assert_int_equal(language_parse(STR("program"), &language), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_extension_comes_first),
		cmocka_unit_test(test_the_first_line_tells),
		cmocka_unit_test(test_nothing_is_guessed_from_the_code),
		cmocka_unit_test(test_B10_carriage_returns_of_bash),
		cmocka_unit_test(test_B10_python_is_left_alone),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
