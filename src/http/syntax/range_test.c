#include "http/syntax/range.h"

#include "base/macro.h"
#include "base/unit.h"

#include <stdbool.h>

static void test_part(void **state)
{
	static const struct {
		const char *header;
		uint64_t size, first, length;
	} rows[] = {
		{ "bytes=0-0", 10, 0, 1 },
		{ "bytes=0-9", 10, 0, 10 },
		{ "bytes=0-99", 10, 0, 10 },
		{ "bytes=9-9", 10, 9, 1 },
		{ "bytes=3-", 10, 3, 7 },
		{ "bytes=-1", 10, 9, 1 },
		{ "bytes=-10", 10, 0, 10 },
		{ "bytes=-11", 10, 0, 10 },
		{ "Bytes= 2-3", 10, 2, 2 },
		{ "bytes=1-99999999999999999999", 10, 1, 9 },
		{ "bytes=-99999999999999999999", 10, 0, 10 },
	};
	uint64_t first, length;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(
			range_parse(str_from(rows[i].header), rows[i].size, &first, &length),
			RANGE_PART);
		assert_int_equal(first, rows[i].first);
		assert_int_equal(length, rows[i].length);
	}
}

static void check(const char *header, uint64_t size, enum range wanted)
{
	uint64_t first, length;

	if (range_parse(str_from(header), size, &first, &length) != wanted)
		fail_msg("%s of %d", header, (int)size);
}

static void test_whole(void **state)
{
	static const char *const headers[] = { "", "bytes", "bytes=", "bytes=-", "bytes=a-b",
		"bytes=1-0", "bytes=0-1,3-4", "bytes=0-1, -1", "chars=0-1", "bytes 0-1",
		"bytes=0x1-2", "bytes=1", "bytes=--1", "bytes=1-2-3", "bytes=+1-2", "bytes=- 1" };

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		check(headers[i], 10, RANGE_WHOLE);
	check("bytes=-5", 0, RANGE_WHOLE);
}

static void test_unsatisfiable(void **state)
{
	check("bytes=10-", 10, RANGE_UNSATISFIABLE);
	check("bytes=10-20", 10, RANGE_UNSATISFIABLE);
	check("bytes=-0", 10, RANGE_UNSATISFIABLE);
	check("bytes=0-", 0, RANGE_UNSATISFIABLE);
	check("bytes=99999999999999999999-", 10, RANGE_UNSATISFIABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_unsatisfiable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
