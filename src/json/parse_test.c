#include "json/parse.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/unit.h"
#include "base/utf8.h"
#include "json/json.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void parses(struct str text)
{
	AUTO_JSON struct json *j = NULL;
	struct fault fault;

	assert_int_equal(json_parse(text, &j, &fault), 0);
	assert_non_null(j);
}

static void refused(struct str text, int error, enum fault_code code)
{
	struct json *j = NULL;
	struct fault fault;

	assert_int_equal(json_parse(text, &j, &fault), error);
	assert_int_equal(fault.code, code);
	assert_true(strlen(fault.text) > 10);
	assert_null(j);
}

static void test_values_of_all_kinds(void **state)
{
	parses(STR("{\"a\":[1,2.5,true,null,\"x\\\"]\"]}"));
	parses(STR("  7 "));
	parses(STR("\"[[[[\""));
	parses(STR("[]"));
}

static void test_what_is_no_json(void **state)
{
	static const char *const texts[] = { "", " ", "{", "[1,]", "{\"a\":1,}", "{'a':1}", "nul",
		"[1]x", "NaN", "\"\\u0000\"", "\"\\ud800\"", "\"\x01\"", "1e999", "01",
		"99999999999999999999", "{\"a\":1}{\"a\":1}", "[\"unfinished", "]", "}" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refused(str_from(texts[i]), -EBADMSG, FAULT_BAD_REQUEST);
	refused(STR("\"a\0b\""), -EBADMSG, FAULT_BAD_REQUEST);
	refused(STR("\"\xff\""), -EBADMSG, FAULT_BAD_REQUEST);
}

static void test_a_name_stands_once(void **state)
{
	refused(STR("{\"code\":1,\"code\":2}"), -EBADMSG, FAULT_BAD_REQUEST);
	refused(STR("{\"a\":{\"x\":1,\"\\u0078\":2}}"), -EBADMSG, FAULT_BAD_REQUEST);
}

static void fill(struct buf *b, const char *unit, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(buf_add_str(b, unit), 0);
}

static void test_depth_is_bounded(void **state)
{
	AUTO_BUF struct buf good = BUF_INIT(4096), bad = BUF_INIT(4096);

	fill(&good, "[", JSON_DEPTH_MAX);
	fill(&good, "]", JSON_DEPTH_MAX);
	parses(buf_get_slice(&good));
	fill(&bad, "{\"a\":", JSON_DEPTH_MAX + 1);
	refused(buf_get_slice(&bad), -E2BIG, FAULT_TOO_LARGE);
}

static void test_values_are_bounded(void **state)
{
	AUTO_BUF struct buf good = BUF_INIT(1 << 20), bad = BUF_INIT(1 << 20);

	/* The array itself is a value too. */
	fill(&good, "[0", 1);
	fill(&good, ",1", JSON_VALUES_MAX - 3);
	fill(&good, "]", 1);
	parses(buf_get_slice(&good));
	fill(&bad, "[0", 1);
	fill(&bad, ",1", JSON_VALUES_MAX);
	fill(&bad, "]", 1);
	refused(buf_get_slice(&bad), -E2BIG, FAULT_TOO_LARGE);
}

static void test_empty_objects_count_as_values(void **state)
{
	AUTO_BUF struct buf bad = BUF_INIT(1 << 20);

	fill(&bad, "{}", JSON_VALUES_MAX + 1);
	refused(buf_get_slice(&bad), -E2BIG, FAULT_TOO_LARGE);
}

static void test_brackets_in_text_do_not_count(void **state)
{
	AUTO_BUF struct buf b = BUF_INIT(1 << 20);

	fill(&b, "\"", 1);
	fill(&b, "[{,\\\"", JSON_VALUES_MAX);
	fill(&b, "\"", 1);
	parses(buf_get_slice(&b));
}

static void test_size_is_bounded(void **state)
{
	AUTO_BUF struct buf b = BUF_INIT(JSON_SIZE_MAX + 16);
	char spaces[1024];

	memset(spaces, ' ', sizeof(spaces));
	while (b.len <= JSON_SIZE_MAX - sizeof(spaces))
		assert_int_equal(buf_add(&b, spaces, sizeof(spaces)), 0);
	fill(&b, " ", JSON_SIZE_MAX - b.len);
	b.data[0] = '1';
	parses(buf_get_slice(&b));
	fill(&b, " ", 1);
	refused(buf_get_slice(&b), -E2BIG, FAULT_TOO_LARGE);
}

/* The words quote the text, and must not cut a character: they go into a problem. */
static void test_malformed_is_told_in_utf8(void **state)
{
	static const char *const texts[] = { "{\"a\":\"\\u00e\xc3\xa9\xc3\xa9\"}",
		"[\"\xc3\xa9\\x\xc3\xa9\xc3\xa9\"]", "{\"\xc3\xa9\" \xc3\xa9}" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct json *j = NULL;
		struct fault fault;

		assert_int_equal(json_parse(str_from(texts[i]), &j, &fault), -EBADMSG);
		assert_true(utf8_is_valid(fault.text, strlen(fault.text)));
	}
}

/* It aborts as everywhere; it was told as malformed text. */
static void test_a_lack_of_memory_is_not_the_texts_fault(void **state)
{
	const struct rlimit nothing = { .rlim_cur = 1, .rlim_max = 1 };
	AUTO_BUF struct buf text = BUF_INIT(JSON_SIZE_MAX);
	int status;
	pid_t pid;

	(void)buf_add_str(&text, "\"");
	for (size_t i = 0; i < 128 * 1024; i++)
		(void)buf_add(&text,
			"a text of 64 bytes, a text of 64 bytes, a text of 64 bytes, a tex", 64);
	(void)buf_add_str(&text, "\"");
	parses(buf_get_slice(&text));
	pid = fork();
	if (pid == 0) {
		struct json *j = NULL;
		struct fault fault;

		(void)!freopen("/dev/null", "w", stderr);
		signal(SIGABRT, SIG_DFL);
		(void)setrlimit(RLIMIT_AS, &nothing);
		(void)json_parse(buf_get_slice(&text), &j, &fault);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_of_all_kinds),
		cmocka_unit_test(test_what_is_no_json),
		cmocka_unit_test(test_a_name_stands_once),
		cmocka_unit_test(test_a_lack_of_memory_is_not_the_texts_fault),
		cmocka_unit_test(test_depth_is_bounded),
		cmocka_unit_test(test_values_are_bounded),
		cmocka_unit_test(test_empty_objects_count_as_values),
		cmocka_unit_test(test_brackets_in_text_do_not_count),
		cmocka_unit_test(test_size_is_bounded),
		cmocka_unit_test(test_malformed_is_told_in_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
