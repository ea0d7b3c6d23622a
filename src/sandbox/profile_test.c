#include "sandbox/profile.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/unit.h"

#include <errno.h>
#include <string.h>

static void test_strict_is_the_figures_of_the_requirements(void **state)
{
	struct wire_limits limits;
	struct fault fault;

	assert_int_equal(profile_get("strict", &limits, &fault), 0);
	assert_int_equal(limits.memory_bytes, 256 << 20); /* J5 */
	assert_int_equal(limits.cpu_ms_per_s, 1000);	  /* J7 */
	assert_int_equal(limits.wall_ms, 30000);	  /* J8 */
	assert_int_equal(limits.processes, 16);		  /* J10 */
	assert_int_equal(limits.own_proc, 0);		  /* J13 */
	assert_int_equal(limits.file_bytes, 100 << 20);	  /* J16 */
	assert_int_equal(limits.home_bytes, 100 << 20);	  /* J17 */
}

static void test_every_profile_is_what_jaild_accepts(void **state)
{
	const char *name, *wrong;

	for (unsigned i = 0; (name = profile_name(i)) != NULL; i++) {
		struct wire_limits limits;
		struct fault fault;

		assert_int_equal(profile_get(name, &limits, &fault), 0);
		assert_int_equal(wire_limits_check(&limits, &wrong), 0);
	}
}

static void test_an_unknown_name_lists_the_known(void **state)
{
	struct wire_limits limits;
	struct fault fault;

	assert_int_equal(profile_get("STRICT", &limits, &fault), -ENOENT);
	assert_int_equal(fault.code, FAULT_INVALID_FIELD);
	assert_string_equal(fault.field, "profile");
	assert_non_null(strstr(fault.text, "strict"));
	assert_non_null(strstr(fault.text, "roomy"));
}

static void refused(const char *change, const char *expected)
{
	AUTO_BUF struct buf text = BUF_INIT(4096);
	struct wire_limits limits = { 0 };
	struct fault fault;
	uint64_t value;
	const char *name;
	enum limit_unit unit;

	/* Every limit at a value that all ranges hold, but for the last: it is missing. */
	for (unsigned i = 0; wire_limits_get(&limits, i, &name, &value, &unit) == 0; i++)
		if (unit != LIMIT_FLAG)
			assert_int_equal(buf_addf(&text, "%s = %s\n", name,
						 unit == LIMIT_BYTES ? "64M" : "1000"),
				0);
	assert_int_equal(buf_add_str(&text, change), 0);
	assert_int_equal(profile_parse(buf_get_slice(&text), &limits, &fault), -EBADMSG);
	assert_non_null(strstr(fault.text, expected));
}

static void test_a_profile_has_each_limit_once(void **state)
{
	refused("", "own_proc is missing");
	refused("own_proc = no\nown_proc = no\n", "set twice");
	refused("own_proc = no\nmemory = 1G\n", "no such limit");
	refused("[section]\nown_proc = no\n", "no such limit");
	refused("own_proc = maybe\n", "own_proc");
	refused("own_proc\n", "expected");
}

static void test_a_profile_with_more_of_a_limit(void **state)
{
	uint64_t more = 0;

	assert_string_equal(profile_with_more("processes", 16, &more), "roomy");
	assert_int_equal(more, 256);
	assert_string_equal(profile_with_more("memory_bytes", 0, &more), "roomy");
	assert_int_equal(more, 1 << 30);
	assert_null(profile_with_more("processes", 256, &more));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strict_is_the_figures_of_the_requirements),
		cmocka_unit_test(test_every_profile_is_what_jaild_accepts),
		cmocka_unit_test(test_an_unknown_name_lists_the_known),
		cmocka_unit_test(test_a_profile_with_more_of_a_limit),
		cmocka_unit_test(test_a_profile_has_each_limit_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
