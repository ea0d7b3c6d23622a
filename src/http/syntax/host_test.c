#include "http/syntax/host.h"

#include "base/unit.h"

static void test_ours(void **state)
{
	static const char *const hosts[] = { "localhost", "LOCALHOST:1", "127.0.0.1",
		"127.0.0.1:17600", "127.9.9.9", "[::1]", "[::1]:80" };

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		assert_true(host_is_loopback(str_from(hosts[i])));
}

static void test_others(void **state)
{
	static const char *const hosts[] = { "", ":80", "evil.example", "localhost.evil.example",
		"127.0.0.1.evil.example", "127.0.0.1:x", "127.0.0.1:80:80", "127.1", "0.0.0.0",
		"10.0.0.1", "[::2]", "[::1", "[::1]x", "[::1]:x", "localhost ", "2130706433" };

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		assert_false(host_is_loopback(str_from(hosts[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ours),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
