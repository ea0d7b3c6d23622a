#include "jail/files/base64.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_a_full_buffer_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
