#include "base/conf.h"

#include "base/buf.h"
#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>

/* Writes every setting down as "line:section:key:value;". */
static int on_value(void *ctx, struct str section, struct str key, struct str value, unsigned line)
{
	struct buf *seen = ctx;

	return buf_addf(
		seen, "%u:%.*s:%.*s:%.*s;", line, STR_ARG(section), STR_ARG(key), STR_ARG(value));
}

static void test_reads_sections_keys_and_values(void **state)
{
	AUTO_BUF struct buf seen = BUF_INIT(1000);
	struct conf_error error;
	struct str text = STR("# top\n"
			      "level=info\n"
			      "\n"
			      "[strict]\r\n"
			      "\tmemory = 256M   # swap none\r\n"
			      "path = a#b = c \n"
			      " [ roomy ] # more\n"
			      "empty =");

	assert_int_equal(conf_parse(text, on_value, &seen, &error), 0);
	assert_string_equal(buf_get_cstr(&seen),
		"2::level:info;5:strict:memory:256M;6:strict:path:a#b = c;8:roomy:empty:;");
	assert_int_equal(error.line, 0);
}

static void test_nothing_is_nothing(void **state)
{
	AUTO_BUF struct buf seen = BUF_INIT(1000);
	struct conf_error error;

	assert_int_equal(conf_parse(str_from(NULL), on_value, &seen, &error), 0);
	assert_int_equal(conf_parse(STR("\n\n# x\n"), on_value, &seen, &error), 0);
	assert_int_equal(seen.len, 0);
}

static void test_malformed_lines_are_named(void **state)
{
	static const struct str bad[] = {
		{ "a = 1\nword\n", 11 },
		{ "a = 1\n= 2\n", 10 },
		{ "a = 1\n[open\n", 12 },
		{ "a = 1\n[]\n", 9 },
		{ "a = 1\n[", 7 },
		{ "a = 1\n[a b]\n", 12 },
		{ "a = 1\nb c = 2\n", 14 },
		{ "a = 1\nb = \0\n", 12 },
		{ "a = 1\nb = \x1b[1m\n", 15 },
		{ "a = 1\n\xd0\x9f = 2\n", 13 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		AUTO_BUF struct buf seen = BUF_INIT(1000);
		struct conf_error error;

		assert_int_equal(conf_parse(bad[i], on_value, &seen, &error), -EBADMSG);
		assert_int_equal(error.line, 2);
		assert_true(error.text[0] != '\0');
		assert_string_equal(buf_get_cstr(&seen), "1::a:1;");
	}
}

static void test_a_line_has_a_maximum(void **state)
{
	AUTO_BUF struct buf seen = BUF_INIT(3000), text = BUF_INIT(3000);
	struct conf_error error;

	assert_int_equal(buf_add_str(&text, "k="), 0);
	while (text.len < CONF_LINE_MAX)
		assert_int_equal(buf_add_char(&text, 'x'), 0);
	assert_int_equal(conf_parse(buf_get_slice(&text), on_value, &seen, &error), 0);
	assert_int_equal(buf_add_char(&text, 'x'), 0);
	assert_int_equal(conf_parse(buf_get_slice(&text), on_value, &seen, &error), -EBADMSG);
}

static int refuse(void *ctx, struct str section, struct str key, struct str value, unsigned line)
{
	struct conf_error *error = ctx;

	if (error)
		memcpy(error->text, "too much", 9);
	return -ERANGE;
}

static void test_the_callback_stops_it_and_may_say_why(void **state)
{
	struct conf_error error;

	assert_int_equal(conf_parse(STR("\na = 1\nb = 2"), refuse, NULL, &error), -ERANGE);
	assert_int_equal(error.line, 2);
	assert_string_equal(error.text, "'a' does not take this value");
	assert_int_equal(conf_parse(STR("a = 1"), refuse, &error, &error), -ERANGE);
	assert_string_equal(error.text, "too much");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_sections_keys_and_values),
		cmocka_unit_test(test_nothing_is_nothing),
		cmocka_unit_test(test_malformed_lines_are_named),
		cmocka_unit_test(test_a_line_has_a_maximum),
		cmocka_unit_test(test_the_callback_stops_it_and_may_say_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
