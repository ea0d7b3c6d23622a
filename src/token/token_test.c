#include "token/token.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/unit.h"

#include <errno.h>

#define HASH_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void test_round_trip(void **state)
{
	static const char text[] = HASH_ABC " acme run,admin strict,roomy 1790000000 kept\n";
	AUTO_BUF struct buf out = BUF_INIT(1024);
	struct tokens tokens;
	struct fault fault;
	const struct token *found;

	assert_int_equal(tokens_parse(str_from(text), &tokens, &fault), 0);
	assert_int_equal(tokens.n, 1);
	found = tokens_find(&tokens, STR("abc"));
	assert_non_null(found);
	assert_string_equal(found->tenant, "acme");
	assert_int_equal(found->scopes, TOKEN_SCOPE_RUN | TOKEN_SCOPE_ADMIN);
	assert_int_equal(found->n_profiles, 2);
	assert_true(found->is_kept);
	assert_int_equal(token_format(found, &out), 0);
	assert_string_equal(buf_get_cstr(&out), text);
	assert_null(tokens_find(&tokens, STR("abd")));
	assert_null(tokens_find(&tokens, STR("")));
	free(tokens.items);
}

static void test_comments_and_all_profiles(void **state)
{
	struct tokens tokens;
	struct fault fault;

	assert_int_equal(tokens_parse(STR("# mine\n\n" HASH_ABC " a run * 0"), &tokens, &fault), 0);
	assert_int_equal(tokens.n, 1);
	assert_int_equal(tokens.items[0].n_profiles, 0);
	assert_false(tokens.items[0].is_kept);
	free(tokens.items);
}

static void test_refusals(void **state)
{
	static const char *const texts[] = { "x", HASH_ABC, HASH_ABC " a", HASH_ABC " a run",
		HASH_ABC " a run *", HASH_ABC " a/b run * 0", HASH_ABC " a walk * 0",
		HASH_ABC " a run , 0", HASH_ABC " a run * -1", HASH_ABC " a run * 0 0",
		HASH_ABC "  run * 0", HASH_ABC " a run * 0 kept kept" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tokens tokens;
		struct fault fault;

		assert_int_equal(tokens_parse(str_from(texts[i]), &tokens, &fault), -EBADMSG);
		assert_non_null(strstr(fault.text, "line 1"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_comments_and_all_profiles),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
