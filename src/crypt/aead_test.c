#include "crypt/aead.h"

#include "base/unit.h"

#include <errno.h>
#include <string.h>

static const struct key key = { .bytes = { 0 } };
static const uint8_t nonce[AEAD_NONCE_SIZE] = { 0 };

/* The GCM specification, test case 14: a key, nonce and block of zeros. */
static void test_known(void **state)
{
	static const uint8_t expected[] = { 0xce, 0xa7, 0x40, 0x3d, 0x4d, 0x60, 0x6b, 0x6e, 0x07,
		0x4e, 0xc5, 0xd3, 0xba, 0xf3, 0x9d, 0x18, 0xd0, 0xd1, 0xc8, 0xa7, 0x99, 0x99, 0x6b,
		0xf0, 0x26, 0x5b, 0x98, 0xb5, 0xd4, 0x8a, 0xb9, 0x19 };
	static const uint8_t data[16];
	uint8_t sealed[sizeof(data) + AEAD_TAG_SIZE], again[sizeof(data)];
	struct aead *aead = aead_new(&key);

	assert_int_equal(aead_seal(aead, nonce, data, sizeof(data), sealed), 0);
	assert_memory_equal(sealed, expected, sizeof(expected));
	assert_int_equal(aead_open(aead, nonce, sealed, sizeof(sealed), again), 0);
	assert_memory_equal(again, data, sizeof(data));
	aead_free(aead);
}

static void test_every_bit_counts(void **state)
{
	uint8_t sealed[5 + AEAD_TAG_SIZE], data[5], other[AEAD_NONCE_SIZE] = { 1 };
	struct aead *aead = aead_new(&key);

	assert_int_equal(aead_seal(aead, nonce, "bytes", 5, sealed), 0);
	for (size_t i = 0; i < sizeof(sealed) * 8; i++) {
		sealed[i / 8] ^= (uint8_t)(1u << i % 8);
		assert_int_equal(aead_open(aead, nonce, sealed, sizeof(sealed), data), -EBADMSG);
		sealed[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	assert_int_equal(aead_open(aead, other, sealed, sizeof(sealed), data), -EBADMSG);
	assert_int_equal(aead_open(aead, nonce, sealed, AEAD_TAG_SIZE - 1, data), -EBADMSG);
	assert_int_equal(aead_open(aead, nonce, sealed, sizeof(sealed), data), 0);
	assert_memory_equal(data, "bytes", 5);
	aead_free(aead);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_every_bit_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
