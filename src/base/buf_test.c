#include "base/buf.h"

#include "base/unit.h"

#include <errno.h>

static void test_empty_is_a_string(void **state)
{
	AUTO_BUF struct buf b = BUF_INIT(10);

	assert_string_equal(buf_get_cstr(&b), "");
	assert_int_equal(buf_get_slice(&b).n, 0);
	assert_int_equal(buf_add(&b, NULL, 0), 0);
	assert_string_equal(buf_get_cstr(&b), "");
}

static void test_grows_to_its_maximum_and_not_further(void **state)
{
	AUTO_BUF struct buf b = BUF_INIT(1000);

	for (int i = 0; i < 1000; i++)
		assert_int_equal(buf_add_char(&b, (char)('a' + i % 26)), 0);
	assert_int_equal(buf_add_char(&b, 'x'), -ENOBUFS);
	assert_int_equal(b.len, 1000);
	assert_true(b.cap <= 1001);
	assert_int_equal(buf_get_cstr(&b)[1000], '\0');
	assert_int_equal(buf_get_cstr(&b)[999], 'a' + 999 % 26);
}

static void test_refused_bytes_change_nothing(void **state)
{
	AUTO_BUF struct buf b = BUF_INIT(5);

	assert_int_equal(buf_add_str(&b, "abc"), 0);
	assert_int_equal(buf_add_str(&b, "def"), -ENOBUFS);
	assert_int_equal(buf_addf(&b, "%d", 123), -ENOBUFS);
	assert_int_equal(buf_add(&b, "x", SIZE_MAX), -ENOBUFS);
	assert_string_equal(buf_get_cstr(&b), "abc");
	assert_int_equal(buf_addf(&b, "%d", 12), 0);
	assert_string_equal(buf_get_cstr(&b), "abc12");
}

static void test_clear_and_fini(void **state)
{
	struct buf b;

	buf_init(&b, 8);
	assert_int_equal(buf_add_slice(&b, STR("a\0b")), 0);
	assert_int_equal(buf_get_slice(&b).n, 3);
	buf_clear(&b);
	assert_string_equal(buf_get_cstr(&b), "");
	buf_fini(&b);
	assert_null(b.data);
	assert_int_equal(buf_add_str(&b, "again"), 0);
	buf_fini(&b);
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_is_a_string),
		cmocka_unit_test(test_grows_to_its_maximum_and_not_further),
		cmocka_unit_test(test_refused_bytes_change_nothing),
		cmocka_unit_test(test_clear_and_fini),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
