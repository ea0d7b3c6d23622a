#include "tenant/keyring.h"

#include "base/fd.h"
#include "base/unit.h"

#include <errno.h>
#include <sys/mman.h>

#define HASH_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static int replace(struct keyring *keyring, const char *text)
{
	AUTO_CLOSE int fd = -1;

	assert_int_equal(fd_memfd_sealed("tokens", text, strlen(text), &fd), 0);
	return keyring_replace(keyring, fd);
}

static void test_replaced_and_kept(void **state)
{
	struct keyring keyring;
	struct token token;

	keyring_init(&keyring);
	assert_false(keyring_find(&keyring, STR("abc"), &token));
	assert_int_equal(replace(&keyring, HASH_ABC " acme run * 0\n"), 0);
	assert_true(keyring_find(&keyring, STR("abc"), &token));
	assert_string_equal(token.tenant, "acme");
	/* What is malformed changes nothing. */
	assert_true(replace(&keyring, "rubbish\n") < 0);
	assert_true(keyring_find(&keyring, STR("abc"), &token));
	assert_int_equal(replace(&keyring, ""), 0);
	assert_false(keyring_find(&keyring, STR("abc"), &token));
	free(keyring.tokens.items);
}

/* Bytes that somebody could still change are not read. */
static void test_unsealed(void **state)
{
	AUTO_CLOSE int fd = memfd_create("tokens", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct keyring keyring;

	keyring_init(&keyring);
	assert_int_equal(keyring_replace(&keyring, fd), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replaced_and_kept),
		cmocka_unit_test(test_unsealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
