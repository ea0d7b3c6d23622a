#include "json/json.h"

#include "base/buf.h"
#include "base/unit.h"

#include <errno.h>
#include <string.h>

static void written(const struct json *j, const char *expected)
{
	AUTO_BUF struct buf out = BUF_INIT(4096);

	assert_int_equal(json_write(j, &out), 0);
	assert_string_equal(buf_get_cstr(&out), expected);
}

static void test_members_keep_their_order(void **state)
{
	AUTO_JSON struct json *j = json_object_new();

	json_set_cstr(j, "z", "last letter first");
	json_set_null(j, "a");
	json_set_bool(j, "b", true);
	json_set_integer(j, "c", -5);
	written(j, "{\"z\":\"last letter first\",\"a\":null,\"b\":true,\"c\":-5}");
}

static void test_children_belong_to_their_parent(void **state)
{
	AUTO_JSON struct json *j = json_object_new();
	struct json *list = json_set_array(j, "list");

	json_add_text(list, STR("x"));
	json_set_count(json_add_object(list), "n", 7);
	(void)json_set_object(j, "empty");
	written(j, "{\"list\":[\"x\",{\"n\":7}],\"empty\":{}}");
}

static void test_bytes_that_are_no_text_are_repaired(void **state)
{
	AUTO_JSON struct json *j = json_object_new();

	json_set_text(j, "t", STR("a\xff\xed\xa0\x80z"));
	json_set_text(j, "nul", STR("a\0b"));
	json_set_text(j, "none", (struct str){ .p = NULL, .n = 0 });
	written(j, "{\"t\":\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\","
		   "\"nul\":\"a\\u0000b\",\"none\":\"\"}");
}

static void test_count_over_the_integers_is_the_largest(void **state)
{
	AUTO_JSON struct json *j = json_object_new();

	json_set_count(j, "n", UINT64_MAX);
	written(j, "{\"n\":9223372036854775807}");
}

static void test_writing_stops_at_the_maximum(void **state)
{
	AUTO_JSON struct json *j = json_object_new();
	AUTO_BUF struct buf out = BUF_INIT(8);

	json_set_cstr(j, "name", "longer than eight bytes");
	assert_int_equal(json_write(j, &out), -ENOBUFS);
}

static void test_values_of_another_kind_are_refused(void **state)
{
	AUTO_JSON struct json *j = json_object_new();
	int64_t number = 1;
	struct str text;
	bool flag;

	json_set_cstr(j, "t", "text");
	assert_int_equal(json_as_integer(json_get(j, "t"), &number), -EINVAL);
	assert_int_equal(json_as_bool(json_get(j, "t"), &flag), -EINVAL);
	assert_int_equal(json_as_text(json_get(j, "absent"), &text), -EINVAL);
	assert_int_equal(json_as_text(json_get(j, "t"), &text), 0);
	assert_true(str_eq(text, STR("text")));
	assert_int_equal(number, 1);
	assert_null(json_get(json_get(j, "t"), "member of a text"));
	assert_null(json_at(j, 0));
}

static void test_members_are_found_by_number(void **state)
{
	AUTO_JSON struct json *j = json_object_new();
	struct str name;

	json_set_null(j, "first");
	json_set_integer(j, "second", 2);
	assert_int_equal(json_size(j), 2);
	assert_int_equal(json_kind_get(json_member(j, 1, &name)), JSON_KIND_INTEGER);
	assert_true(str_eq(name, STR("second")));
	assert_null(json_member(j, 2, &name));
}

static void test_what_is_measured_is_what_is_written(void **state)
{
	AUTO_JSON struct json *j = json_object_new();
	AUTO_BUF struct buf out = BUF_INIT(1000);

	json_set_text(j, "text", (struct str){ "a\0\x01\"\xff", 5 });
	json_set_integer(j, "number", -17);
	json_add_object(json_set_array(j, "list"));
	assert_int_equal(json_write(j, &out), 0);
	assert_int_equal(json_measure(j), out.len);
	buf_clear(&out);
	out.max = json_measure(j);
	assert_int_equal(json_write(j, &out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_keep_their_order),
		cmocka_unit_test(test_children_belong_to_their_parent),
		cmocka_unit_test(test_bytes_that_are_no_text_are_repaired),
		cmocka_unit_test(test_count_over_the_integers_is_the_largest),
		cmocka_unit_test(test_writing_stops_at_the_maximum),
		cmocka_unit_test(test_values_of_another_kind_are_refused),
		cmocka_unit_test(test_members_are_found_by_number),
		cmocka_unit_test(test_what_is_measured_is_what_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
