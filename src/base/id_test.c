#include "base/id.h"

#include "base/unit.h"

#include <string.h>

static void test_ids_are_base32_and_differ(void **state)
{
	char a[ID_LEN + 1], b[ID_LEN + 1];

	assert_int_equal(id_make(a), 0);
	assert_int_equal(id_make(b), 0);
	assert_int_equal(strspn(a, "abcdefghijklmnopqrstuvwxyz234567"), ID_LEN);
	assert_int_equal(strlen(a), ID_LEN);
	assert_string_not_equal(a, b);
}

static void test_every_character_comes(void **state)
{
	bool seen[256] = { false };
	char id[ID_LEN + 1];
	int count = 0;

	/* 1,000 ids: one of 32 characters is missing with a chance below 1e-270. */
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(id_make(id), 0);
		for (int j = 0; j < ID_LEN; j++)
			seen[(unsigned char)id[j]] = true;
	}
	for (int i = 0; i < 256; i++)
		count += seen[i];
	assert_int_equal(count, 32);
}

static bool is_valid(const char *key)
{
	return id_key_is_valid(key, strlen(key));
}

static void test_keys(void **state)
{
	char longest[ID_KEY_MAX + 2];

	memset(longest, 'k', sizeof(longest));
	assert_true(is_valid("a"));
	assert_true(is_valid("chat:42_A.b-c"));
	assert_true(is_valid("..."));
	assert_true(id_key_is_valid(longest, ID_KEY_MAX));
	assert_false(id_key_is_valid(longest, ID_KEY_MAX + 1));
	assert_false(is_valid(""));
	assert_false(is_valid("."));
	assert_false(is_valid(".."));
	assert_false(is_valid("a/b"));
	assert_false(is_valid("a b"));
	assert_false(is_valid("\xd0\x9f"));
	assert_false(id_key_is_valid("a\0b", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_are_base32_and_differ),
		cmocka_unit_test(test_every_character_comes),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
