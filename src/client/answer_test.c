#include "client/answer.h"

#include "base/fault.h"
#include "base/macro.h"
#include "base/unit.h"
#include "json/json.h"
#include "json/parse.h"

#include <errno.h>
#include <string.h>

#define STREAM "{\"text\":\"a\\u0000b\",\"bytes\":3,\"dropped\":0}"
#define USAGE  "{\"queue_ms\":1,\"start_ms\":2,\"wall_ms\":3,\"cpu_ms\":4,\"memory_peak_bytes\":5}"
#define HEAD                                                                                       \
	"\"run_id\":\"r\",\"session\":\"s\",\"session_state\":\"new\",\"language\":\"python\","    \
	"\"outcome\":\"ok\","
#define RESULTS                                                                                    \
	"\"results\":[{\"mime\":\"text/plain\",\"text\":\"\",\"main\":true},"                      \
	"{\"mime\":\"image/png\",\"path\":\"f.png\",\"main\":false},"                              \
	"{\"mime\":\"image/png\",\"main\":false}],"
#define REST                                                                                       \
	RESULTS "\"stdout\":" STREAM ",\"stderr\":" STREAM                                         \
		",\"reset\":null,\"files_truncated\":false,"                                       \
		"\"usage\":" USAGE
#define EXIT_0 "\"end\":{\"reason\":\"exit\",\"code\":0,\"signal\":null,\"text\":\"t\"},"
#define FILES                                                                                      \
	"\"files\":[{\"path\":\"a b\",\"size\":7,\"mime\":null,\"change\":\"created\"},"           \
	"{\"path\":\"x\\ufffd\",\"path_b64\":\"eP8=\",\"size\":0,\"change\":\"deleted\"}],"

static int read_text(const char *text, struct sandbox_answer *ret_answer, const char **ret_why)
{
	struct json *whole = NULL;
	struct fault fault;

	assert_int_equal(json_parse_ours(str_from(text), &whole, &fault), 0);
	return sandbox_answer_read(whole, ret_answer, ret_why);
}

static void test_a_whole_answer(void **state)
{
	struct sandbox_answer answer;
	struct sandbox_changed_file file;
	struct sandbox_result result;
	const char *why;

	assert_int_equal(read_text("{" HEAD EXIT_0 FILES REST "}", &answer, &why), 0);
	assert_int_equal(answer.n_results, 3);
	assert_int_equal(sandbox_answer_result(&answer, 0, &result), 0);
	assert_true(result.is_main && result.text.p && result.text.n == 0);
	assert_true(str_eq(result.mime, STR("text/plain")));
	assert_int_equal(sandbox_answer_result(&answer, 1, &result), 0);
	assert_true(!result.is_main && !result.text.p);
	assert_string_equal(result.path.bytes, "f.png");
	assert_int_equal(sandbox_answer_result(&answer, 2, &result), -EBADMSG);
	assert_int_equal(sandbox_answer_result(&answer, 3, &result), -EBADMSG);
	assert_true(str_eq(answer.reason, STR("exit")));
	assert_int_equal(answer.code, 0);
	assert_int_equal(answer.out.text.n, 3);
	assert_int_equal(answer.cpu_ms, 4);
	assert_int_equal(answer.n_files, 2);
	assert_int_equal(sandbox_answer_file(&answer, 0, &file), 0);
	assert_string_equal(file.path.bytes, "a b");
	assert_int_equal(file.change, SANDBOX_CREATED);
	assert_int_equal(sandbox_answer_file(&answer, 1, &file), 0);
	assert_string_equal(file.path.bytes, "x\xff");
	assert_int_equal(file.change, SANDBOX_DELETED);
	assert_int_equal(sandbox_answer_file(&answer, 2, &file), -EBADMSG);
	sandbox_answer_fini(&answer);
}

static void test_what_is_malformed_is_named(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "{}", "run_id" },
		{ "{" HEAD FILES REST "}", "end" },
		{ "{" HEAD "\"end\":{\"reason\":\"boredom\",\"text\":\"\"}," FILES REST "}",
			"reason" },
		{ "{" HEAD "\"end\":{\"reason\":\"exit\",\"code\":null,\"text\":\"\"}," FILES REST
		  "}",
			"code" },
		{ "{" HEAD
		  "\"end\":{\"reason\":\"signal\",\"signal\":null,\"text\":\"\"}," FILES REST "}",
			"signal" },
		{ "{" HEAD EXIT_0 FILES "\"stdout\":" STREAM ",\"stderr\":" STREAM "}", "results" },
		{ "{" HEAD EXIT_0 REST "}", "files" },
		{ "{" HEAD EXIT_0 "\"files\":{}," REST "}", "files" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sandbox_answer answer;
		const char *why = "";

		assert_int_equal(read_text(rows[i].text, &answer, &why), -EBADMSG);
		assert_string_equal(why, rows[i].why);
	}
}

static void test_paths_that_name_no_file(void **state)
{
	static const char *const files[] = { "{}", "{\"path\":\"\",\"size\":0}",
		"{\"path\":\"a\\u0000b\"}", "{\"path\":7}", "{\"path\":\"a\",\"path_b64\":\"!\"}",
		"[]" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_JSON struct json *file = NULL;
		struct sandbox_path path;
		struct fault fault;

		assert_int_equal(json_parse_ours(str_from(files[i]), &file, &fault), 0);
		assert_int_equal(sandbox_path_read(file, &path), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_answer),
		cmocka_unit_test(test_what_is_malformed_is_named),
		cmocka_unit_test(test_paths_that_name_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
