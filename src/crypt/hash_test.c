#include "crypt/hash.h"
#include "crypt/secret.h"

#include "base/unit.h"

#include <errno.h>

/* FIPS 180-2, appendix B.1 */
static void test_known(void **state)
{
	static const char expected[] =
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	struct hash hash = hash_make(STR("abc")), again;
	char text[HASH_TEXT_SIZE];

	hash_format(&hash, text);
	assert_string_equal(text, expected);
	assert_int_equal(hash_parse(str_from(text), &again), 0);
	assert_true(hash_is_equal(&hash, &again));
	again.bytes[31] ^= 1;
	assert_false(hash_is_equal(&hash, &again));
}

static void test_parse_refuses(void **state)
{
	struct hash hash;
	char text[HASH_TEXT_SIZE];

	hash = hash_make(STR(""));
	hash_format(&hash, text);
	text[5] = 'G';
	assert_int_equal(hash_parse(str_from(text), &hash), -EINVAL);
	text[5] = 'A';
	assert_int_equal(hash_parse(str_from(text), &hash), -EINVAL);
	assert_int_equal(hash_parse(STR("abc"), &hash), -EINVAL);
	assert_int_equal(hash_parse(STR(""), &hash), -EINVAL);
}

static void test_secrets_differ(void **state)
{
	char a[SECRET_LEN + 1], b[SECRET_LEN + 1];

	secret_make(a);
	secret_make(b);
	assert_int_equal(strlen(a), SECRET_LEN);
	assert_string_not_equal(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_parse_refuses),
		cmocka_unit_test(test_secrets_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
