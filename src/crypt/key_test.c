#include "crypt/key.h"

#include "base/macro.h"
#include "base/unit.h"

#include <string.h>

static const struct key from = { .bytes = { 1, 2, 3 } };

static void derive(const char *label, struct str a, struct str b, struct key *ret_key)
{
	const struct str parts[] = { a, b };

	key_derive(&from, label, parts, ARRAY_SIZE(parts), ret_key);
}

static void test_every_part_counts(void **state)
{
	struct key a, b;

	derive("x", STR("ab"), STR("c"), &a);
	derive("x", STR("ab"), STR("c"), &b);
	assert_memory_equal(a.bytes, b.bytes, KEY_SIZE);
	derive("x", STR("a"), STR("bc"), &b);
	assert_memory_not_equal(a.bytes, b.bytes, KEY_SIZE);
	derive("y", STR("ab"), STR("c"), &b);
	assert_memory_not_equal(a.bytes, b.bytes, KEY_SIZE);
	derive("x", STR("ab"), STR("d"), &b);
	assert_memory_not_equal(a.bytes, b.bytes, KEY_SIZE);
}

/* What is stored today must be readable by every later version: computed with Python's hmac after
 * RFC 5869. */
static void test_known_key(void **state)
{
	static const uint8_t expected[] = { 0x44, 0xbb, 0x6f, 0x43, 0x16, 0x37, 0x4c, 0x5d };
	struct key key;

	derive("label", STR("one"), STR(""), &key);
	assert_memory_equal(key.bytes, expected, sizeof(expected));
}

static void test_random_differs(void **state)
{
	struct key a, b;

	key_random(a.bytes, sizeof(a.bytes));
	key_random(b.bytes, sizeof(b.bytes));
	assert_memory_not_equal(a.bytes, b.bytes, KEY_SIZE);
	key_wipe(&a);
	key_wipe(&b);
	assert_memory_equal(a.bytes, b.bytes, KEY_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_part_counts),
		cmocka_unit_test(test_known_key),
		cmocka_unit_test(test_random_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
