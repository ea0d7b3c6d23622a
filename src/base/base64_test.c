#include "base/base64.h"

#include "base/buf.h"
#include "base/unit.h"

#include <errno.h>

static void encoded(struct str bytes, const char *expected)
{
	AUTO_BUF struct buf out = BUF_INIT(64);

	assert_int_equal(base64_encode(bytes, &out), 0);
	assert_string_equal(buf_get_cstr(&out), expected);
	assert_int_equal(out.len, BASE64_SIZE(bytes.n));
}

/* RFC 4648 section 10, and the two characters that are no letters. */
static void test_vectors(void **state)
{
	encoded(STR(""), "");
	encoded(STR("f"), "Zg==");
	encoded(STR("fo"), "Zm8=");
	encoded(STR("foo"), "Zm9v");
	encoded(STR("foob"), "Zm9vYg==");
	encoded(STR("fooba"), "Zm9vYmE=");
	encoded(STR("foobar"), "Zm9vYmFy");
	encoded(STR("\xfb\xff\xfe"), "+//+");
	encoded(STR("\0\0\0"), "AAAA");
}

static void test_a_full_buffer_is_said(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(7);

	assert_int_equal(base64_encode(STR("abcdef"), &out), -ENOBUFS);
}

static void decoded(struct str text, struct str expected)
{
	AUTO_BUF struct buf out = BUF_INIT(64);

	assert_int_equal(base64_decode(text, &out), 0);
	assert_true(str_eq(buf_get_slice(&out), expected));
}

static void test_back(void **state)
{
	decoded(STR(""), STR(""));
	decoded(STR("Zg=="), STR("f"));
	decoded(STR("Zm8="), STR("fo"));
	decoded(STR("Zm9v"), STR("foo"));
	decoded(STR("Zm9vYg=="), STR("foob"));
	decoded(STR("Zm9vYmFy"), STR("foobar"));
	decoded(STR("+//+"), STR("\xfb\xff\xfe"));
	decoded(STR("AAAA"), STR("\0\0\0"));
}

static void test_what_is_not_base64(void **state)
{
	static const char *const bad[] = { "Z", "Zg", "Zg=", "Zm9", "=",
		"====", "Z===", "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm-_",
		"Zh==", "Zm9=", "Z=g=", "Zm\xc3\xa9" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		AUTO_BUF struct buf out = BUF_INIT(64);

		assert_int_equal(base64_decode(str_from(bad[i]), &out), -EBADMSG);
	}
}

static void test_more_than_the_buffer_takes(void **state)
{
	AUTO_BUF struct buf out = BUF_INIT(5);

	assert_int_equal(base64_decode(STR("Zm9vYmFy"), &out), -ENOBUFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_a_full_buffer_is_said),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_what_is_not_base64),
		cmocka_unit_test(test_more_than_the_buffer_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
