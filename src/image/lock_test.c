#include "image/lock.h"

#include "base/buf.h"
#include "base/fault.h"

#include "base/unit.h"

#include <errno.h>

#define H1 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define H2 "cb8379ac2098aa165029e3938a51da0bcecfc008fd6795f401178647f96c5b34"

static void test_uris_become_a_lock(void **state)
{
	AUTO_LOCK struct lock lock = { 0 }, again = { 0 };
	AUTO_BUF struct buf text = BUF_INIT(4096);
	struct fault fault;
	char name[128];

	assert_int_equal(
		lock_parse_uris(
			STR("Reading package lists...\n"
			    "'http://m/z.deb' zip_3.0-16_amd64.deb 243000 SHA256:" H1 "\n"
			    "'http://m/a.deb' file_1%3a5.47-4_amd64.deb 12 SHA256:" H2 "\n"),
			&lock),
		0);
	assert_int_equal(lock.n, 2);
	assert_string_equal(lock.packages[0].name, "file"); /* sorted */
	assert_string_equal(lock.packages[0].version, "1:5.47-4");
	assert_int_equal(lock.packages[1].size_bytes, 243000);
	assert_int_equal(lock_file_name(&lock.packages[0], name, sizeof(name)), 0);
	assert_string_equal(name, "file_1%3a5.47-4_amd64.deb");
	assert_int_equal(lock_format(&lock, &text), 0);
	assert_int_equal(lock_parse(buf_get_slice(&text), &again, &fault), 0);
	assert_true(lock_is_equal(&lock, &again));
	assert_non_null(lock_find(&again, "zip"));
	assert_null(lock_find(&again, "zi"));
	again.packages[1].sha256.bytes[0] ^= 1;
	assert_false(lock_is_equal(&lock, &again));
}

static void test_comments_and_spaces(void **state)
{
	AUTO_LOCK struct lock lock = { 0 };
	struct fault fault;

	assert_int_equal(
		lock_parse(STR("# made\n\n  zip 3.0 amd64 5 " H1 "  \r\n"), &lock, &fault), 0);
	assert_int_equal(lock.n, 1);
}

/* Names and versions become words of command lines. */
static void test_what_is_no_lock_is_refused(void **state)
{
	static const char *const wrong[] = { "zip\n", "zip 3.0 amd64 5\n", "zip 3.0 amd64 5 abc\n",
		"zip 3.0 amd64 x " H1 "\n", "zip 3.0 amd64 5 " H1 " more\n",
		"-o 3.0 amd64 5 " H1 "\n", "../zip 3.0 amd64 5 " H1 "\n",
		"a;b 3.0 amd64 5 " H1 "\n", "zip 3.0 amd64 99999999999 " H1 "\n" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		AUTO_LOCK struct lock lock = { 0 };
		struct fault fault = { 0 };

		assert_int_equal(lock_parse(str_from(wrong[i]), &lock, &fault), -EINVAL);
		assert_non_null(strstr(fault.text, "line 1"));
	}
}

static void test_uris_without_a_hash_are_refused(void **state)
{
	static const char *const wrong[] = { "'u' zip_3.0_amd64.deb 5 MD5Sum:" H1 "\n",
		"'u' zip_3.0_amd64.deb 5\n", "'u' zip.deb 5 SHA256:" H1 "\n",
		"'u' zip_3.0_amd64.rpm 5 SHA256:" H1 "\n" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		AUTO_LOCK struct lock lock = { 0 };

		assert_int_equal(lock_parse_uris(str_from(wrong[i]), &lock), -EINVAL);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uris_become_a_lock),
		cmocka_unit_test(test_comments_and_spaces),
		cmocka_unit_test(test_what_is_no_lock_is_refused),
		cmocka_unit_test(test_uris_without_a_hash_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
