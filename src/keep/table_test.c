#include "keep/table.h"

#include "base/str.h"
#include "base/unit.h"

#include <stdlib.h>

static struct kept *add(struct kept_table *table, const char *tenant, const char *key)
{
	struct manifest_head head = { .generation = 1 };

	(void)str_copy(head.tenant, sizeof(head.tenant), tenant);
	(void)str_copy(head.key, sizeof(head.key), key);
	return kept_add(table, &head);
}

static void test_sorted_and_found(void **state)
{
	struct kept_table table = { .n = 0 };
	struct manifest_head *heads = NULL;

	(void)add(&table, "b", "1");
	(void)add(&table, "a", "2");
	(void)add(&table, "a", "1");
	(void)add(&table, "ab", "");
	add(&table, "c", "1")->head.generation = 0;
	assert_string_equal(table.list[0]->head.key, "1");
	assert_string_equal(table.list[2]->head.tenant, "ab");
	assert_ptr_equal(kept_find(&table, "a", "2"), table.list[1]);
	assert_null(kept_find(&table, "a", "3"));
	assert_null(kept_find(&table, "", ""));
	assert_int_equal(kept_heads(&table, &heads), 4);
	assert_string_equal(heads[3].tenant, "b");
	free(heads);
	kept_remove(&table, kept_find(&table, "a", "2"));
	assert_null(kept_find(&table, "a", "2"));
	assert_int_equal(table.n, 4);
	kept_table_fini(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted_and_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
