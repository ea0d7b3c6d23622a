#include "sandbox/human.h"

#include "base/buf.h"
#include "base/unit.h"

static void bytes(uint64_t n, const char *expected)
{
	AUTO_BUF struct buf out = BUF_INIT(64);

	human_bytes(&out, n);
	assert_string_equal(buf_get_cstr(&out), expected);
}

static void duration(uint64_t us, const char *expected)
{
	AUTO_BUF struct buf out = BUF_INIT(64);

	human_duration(&out, us);
	assert_string_equal(buf_get_cstr(&out), expected);
}

static void test_bytes(void **state)
{
	bytes(0, "0 bytes");
	bytes(1, "1 byte");
	bytes(1023, "1023 bytes");
	bytes(1024, "1 KiB");
	bytes(34918, "34.1 KiB");
	bytes(1048575, "1 MiB");
	bytes(256ULL << 20, "256 MiB");
	bytes(300000000, "286 MiB");
	bytes(1ULL << 40, "1 TiB");
	bytes(UINT64_MAX, "16777216 TiB");
}

static void test_durations(void **state)
{
	duration(0, "0 ms");
	duration(12345, "12 ms");
	duration(12999, "12 ms"); /* as the answer's wall_ms */
	duration(99999, "99 ms");
	duration(830000, "0.83 s");
	duration(1500000, "1.5 s");
	duration(30000000, "30 s");
	duration(12444000, "12.4 s");
	duration(120000000, "120 s");
	duration(100000000, "100 s");
	duration(599000000, "599 s");
	duration(600000000, "10 min");
	duration(7199000000, "120 min");
	duration(7200000000, "2 h");
	duration(172799000000, "48 h");
	duration(172800000000, "2 d");
	duration(2591963000000, "30 d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
