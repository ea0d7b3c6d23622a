#include "call/run_form.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/unit.h"

/* The field that is refused, or "" for another fault, or "-" when it is taken. */
static void check(const char *body, const char *field)
{
	struct run_form form;
	struct fault fault = { 0 };
	int r = run_form_parse(str_from(body), &form, &fault);

	if (strcmp(field, "-") == 0)
		assert_int_equal(r, 0);
	else
		assert_true(r < 0);
	if (strcmp(field, "-") != 0)
		assert_string_equal(fault.field, field);
	run_form_fini(&form);
}

static void test_whole(void **state)
{
	static const char body[] =
		"{\"language\":\"bash\",\"code\":\"true\",\"files\":[{\"path\":\"a\",\"text\":"
		"\"b\"},"
		"{\"path\":\"c\",\"base64\":\"AAEC\"}],\"stdin\":\"in\",\"args\":[\"x\",\"\"],"
		"\"env\":{\"A\":\"1\",\"B\":\"\"},\"timeout_ms\":5,\"state\":\"fresh\",\"policy\":"
		"null,"
		"\"profile\":\"roomy\",\"run_id\":\"r\"}";
	struct run_form form;
	struct fault fault;

	assert_int_equal(run_form_parse(str_from(body), &form, &fault), 0);
	assert_int_equal(form.call.language, PACKAGE_BASH);
	assert_true(str_eq(form.call.code, STR("true")));
	assert_int_equal(form.call.n_files, 2);
	assert_false(form.call.files[0].is_base64);
	assert_true(form.call.files[1].is_base64);
	assert_true(str_eq(form.call.files[1].content, STR("AAEC")));
	assert_true(str_eq(form.call.stdin_bytes, STR("in")));
	assert_int_equal(form.call.n_args, 2);
	assert_int_equal(form.call.n_env, 2);
	assert_true(str_eq(form.call.env[0], STR("A=1")));
	assert_true(str_eq(form.call.env[1], STR("B=")));
	assert_int_equal(form.call.timeout_ms, 5);
	assert_string_equal(form.call.state, "fresh");
	assert_null(form.call.policy);
	assert_string_equal(form.call.profile, "roomy");
	assert_string_equal(form.call.run_id, "r");
	run_form_fini(&form);
}

#define WITH(member) "{\"language\":\"python\",\"code\":\"1\"," member "}"

static void test_refusals_name_the_field(void **state)
{
	static const struct {
		const char *body, *field;
	} rows[] = {
		{ "", "" },
		{ "[]", "" },
		{ "{\"language\":\"python\"", "" },
		{ "{}", "language" },
		{ "{\"language\":\"python\"}", "code" },
		{ "{\"language\":\"perl\",\"code\":\"\"}", "language" },
		{ "{\"language\":1,\"code\":\"\"}", "language" },
		{ "{\"language\":\"python\",\"code\":null}", "code" },
		{ WITH("\"timeout\":1"), "timeout" },
		{ WITH("\"\":1"), "" },
		{ WITH("\"timeout_ms\":0"), "timeout_ms" },
		{ WITH("\"timeout_ms\":1.5"), "timeout_ms" },
		{ WITH("\"timeout_ms\":-1"), "timeout_ms" },
		{ WITH("\"stdin\":[]"), "stdin" },
		{ WITH("\"args\":\"x\""), "args" },
		{ WITH("\"args\":[1]"), "args" },
		{ WITH("\"env\":[]"), "env" },
		{ WITH("\"env\":{\"A\":1}"), "env" },
		{ WITH("\"env\":{\"\":\"1\"}"), "env" },
		{ WITH("\"env\":{\"A=B\":\"1\"}"), "env" },
		{ WITH("\"files\":{}"), "files" },
		{ WITH("\"files\":[1]"), "files[0]" },
		{ WITH("\"files\":[{\"path\":\"a\"}]"), "files[0]" },
		{ WITH("\"files\":[{\"text\":\"a\"}]"), "files[0]" },
		{ WITH("\"files\":[{\"path\":\"a\",\"text\":\"\",\"base64\":\"\"}]"), "files[0]" },
		{ WITH("\"files\":[{\"path\":\"a\",\"text\":\"\"},{\"path\":1,\"text\":\"\"}]"),
			"files[1]" },
		{ WITH("\"policy\":5"), "policy" },
		{ WITH("\"stdin\":null,\"args\":null,\"env\":null,\"files\":null"), "-" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(rows[i].body, rows[i].field);
}

/* A name that is cut is cut between characters: the problem stays UTF-8. */
static void test_long_unknown_name(void **state)
{
	struct run_form form;
	struct fault fault = { 0 };
	AUTO_BUF struct buf body = BUF_INIT(200);
	size_t n;

	(void)buf_add_str(&body, "{\"x");
	for (int i = 0; i < 40; i++)
		(void)buf_add_str(&body, "\xc3\xa9");
	(void)buf_add_str(&body, "\":1}");
	assert_true(run_form_parse(buf_get_slice(&body), &form, &fault) < 0);
	n = strlen(fault.field);
	assert_int_equal(n % 2, 1);
	assert_int_equal((unsigned char)fault.field[n - 1], 0xa9);
	assert_non_null(strstr(fault.text, "there are: language, code,"));
	assert_non_null(strstr(fault.text, ", run_id")); /* the list is whole */
	run_form_fini(&form);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_refusals_name_the_field),
		cmocka_unit_test(test_long_unknown_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
