#include "wire/limits.h"

#include "base/macro.h"

#include "base/unit.h"

#include <errno.h>

/* The table once more, so that each field's own edges are tried. */
static const struct {
	const char *name;
	size_t offset;
	enum limit_unit unit;
	uint64_t min;
	uint64_t max;
} table[] = {
#define LIMIT(name, unit, min, max) { #name, offsetof(struct wire_limits, name), unit, min, max },
#include "wire/limits.def"
#undef LIMIT
};

static uint64_t *field(struct wire_limits *limits, size_t i)
{
	return (uint64_t *)(void *)((char *)limits + table[i].offset);
}

static struct wire_limits good(void)
{
	struct wire_limits limits = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		*field(&limits, i) = table[i].min;
	return limits;
}

static int set(struct wire_limits *limits, const char *name, const char *value)
{
	return wire_limits_set(limits, str_from(name), str_from(value));
}

static void test_the_struct_is_the_table_without_padding(void **state)
{
	assert_int_equal(sizeof(struct wire_limits), ARRAY_SIZE(table) * sizeof(uint64_t));
	assert_true(ARRAY_SIZE(table) <= WIRE_LIMITS_FIELDS_MAX);
}

static void test_no_sum_of_the_sizes_overflows(void **state)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_false(__builtin_add_overflow(sum, table[i].max, &sum));
	assert_true(sum <= INT64_MAX);
}

static void test_each_field_is_checked_at_both_edges(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct wire_limits limits = good();
		const char *name = NULL;

		*field(&limits, i) = table[i].max;
		assert_int_equal(wire_limits_check(&limits, &name), 0);
		assert_null(name);
		*field(&limits, i) = table[i].max + 1;
		assert_int_equal(wire_limits_check(&limits, &name), -ERANGE);
		assert_string_equal(name, table[i].name);
		*field(&limits, i) = UINT64_MAX;
		assert_int_equal(wire_limits_check(&limits, &name), -ERANGE);
		if (table[i].min == 0)
			continue;
		name = NULL;
		*field(&limits, i) = table[i].min - 1;
		assert_int_equal(wire_limits_check(&limits, &name), -ERANGE);
		assert_string_equal(name, table[i].name);
	}
}

static void test_zeroed_limits_are_refused(void **state)
{
	struct wire_limits limits = { 0 };
	const char *name = NULL;

	assert_int_equal(wire_limits_check(&limits, &name), -ERANGE);
	assert_string_equal(name, "memory_bytes");
}

static void test_each_unit_has_its_own_form(void **state)
{
	struct wire_limits limits = good();

	assert_int_equal(set(&limits, "memory_bytes", "256M"), 0);
	assert_int_equal(limits.memory_bytes, 256ULL << 20);
	assert_int_equal(set(&limits, "memory_bytes", "33554432"), 0);
	assert_int_equal(limits.memory_bytes, 32ULL << 20);
	assert_int_equal(set(&limits, "memory_bytes", "1T"), 0);
	assert_int_equal(limits.memory_bytes, 1ULL << 40);
	assert_int_equal(set(&limits, "wall_ms", "30000"), 0);
	assert_int_equal(limits.wall_ms, 30000);
	assert_int_equal(set(&limits, "processes", "16"), 0);
	assert_int_equal(limits.processes, 16);
	assert_int_equal(set(&limits, "own_proc", "yes"), 0);
	assert_int_equal(limits.own_proc, 1);
	assert_int_equal(set(&limits, "own_proc", "no"), 0);
	assert_int_equal(limits.own_proc, 0);
}

static void test_bad_values_leave_the_field_alone(void **state)
{
	static const struct {
		const char *name, *value;
		int error;
	} cases[] = {
		{ "memory_bytes", "", -EINVAL },
		{ "memory_bytes", "M", -EINVAL },
		{ "memory_bytes", "-1", -EINVAL },
		{ "memory_bytes", "256m", -EINVAL },
		{ "memory_bytes", "256MM", -EINVAL },
		{ "memory_bytes", " 256M", -EINVAL },
		{ "memory_bytes", "0x1000000", -EINVAL },
		{ "memory_bytes", "15M", -ERANGE },
		{ "memory_bytes", "2T", -ERANGE },
		{ "memory_bytes", "1099511627777", -ERANGE },
		{ "memory_bytes", "18446744073709551616", -ERANGE },
		{ "memory_bytes", "18014398509481985K", -ERANGE },
		{ "wall_ms", "99", -ERANGE },
		{ "wall_ms", "86400001", -ERANGE },
		{ "wall_ms", "30s", -EINVAL },
		{ "wall_ms", "1K", -EINVAL },
		{ "processes", "0", -ERANGE },
		{ "processes", "1K", -EINVAL },
		{ "own_proc", "1", -EINVAL },
		{ "own_proc", "Yes", -EINVAL },
		{ "own_proc", "", -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wire_limits limits = good(), before = limits;

		assert_int_equal(set(&limits, cases[i].name, cases[i].value), cases[i].error);
		assert_memory_equal(&limits, &before, sizeof(limits));
	}
}

static void test_only_whole_names_are_known(void **state)
{
	struct wire_limits limits = good();

	assert_int_equal(set(&limits, "memory", "256M"), -ENOENT);
	assert_int_equal(set(&limits, "memory_bytes ", "256M"), -ENOENT);
	assert_int_equal(set(&limits, "Memory_bytes", "256M"), -ENOENT);
	assert_int_equal(set(&limits, "", "256M"), -ENOENT);
	assert_int_equal(
		wire_limits_set(&limits, (struct str){ "memory_bytes\0", 13 }, STR("1G")), -ENOENT);
}

static void test_get_lists_every_field_once(void **state)
{
	struct wire_limits limits = { 0 };
	enum limit_unit unit = LIMIT_FLAG;
	const char *name = NULL;
	uint64_t value = 0;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		*field(&limits, i) = 1000 + i;
	for (unsigned i = 0; i < ARRAY_SIZE(table); i++) {
		assert_int_equal(wire_limits_get(&limits, i, &name, &value, &unit), 0);
		assert_string_equal(name, table[i].name);
		assert_int_equal(value, 1000 + i);
		assert_int_equal(unit, table[i].unit);
	}
	assert_int_equal(
		wire_limits_get(&limits, ARRAY_SIZE(table), &name, &value, &unit), -ENOENT);
	assert_int_equal(wire_limits_get(&limits, UINT32_MAX, &name, &value, &unit), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_struct_is_the_table_without_padding),
		cmocka_unit_test(test_no_sum_of_the_sizes_overflows),
		cmocka_unit_test(test_each_field_is_checked_at_both_edges),
		cmocka_unit_test(test_zeroed_limits_are_refused),
		cmocka_unit_test(test_each_unit_has_its_own_form),
		cmocka_unit_test(test_bad_values_leave_the_field_alone),
		cmocka_unit_test(test_only_whole_names_are_known),
		cmocka_unit_test(test_get_lists_every_field_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
