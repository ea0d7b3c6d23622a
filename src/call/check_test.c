#include "call/check.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/macro.h"
#include "base/unit.h"
#include "call/call.h"
#include "sandbox/run.h"

#include <stdlib.h>
#include <string.h>

static struct call_request plain(void)
{
	return (struct call_request){ .tenant = "t", .key = "k", .code = STR("1") };
}

static void good(const struct call_request *request)
{
	struct fault fault = { .text = "" };

	assert_int_equal(check_request(request, &fault), 0);
}

/* field NULL: TOO_LARGE. */
static void bad(const struct call_request *request, const char *field)
{
	struct fault fault = { .text = "" };

	assert_true(check_request(request, &fault) < 0);
	assert_int_equal(fault.code, field ? FAULT_INVALID_FIELD : FAULT_TOO_LARGE);
	assert_string_equal(fault.field, field ? field : "");
	assert_true(strlen(fault.text) > 10);
}

static void test_names(void **state)
{
	struct call_request request = plain();

	good(&request);
	request.tenant = "";
	bad(&request, "tenant");
	request = plain();
	request.key = "a/b";
	bad(&request, "key");
	request = plain();
	request.policy = HOUSE_KEPT;
	request.state = HOUSE_STATE;
	request.run_id = "r-1_A";
	good(&request);
	request.policy = "other";
	bad(&request, "policy");
	request.policy = NULL;
	request.state = HOUSE_LIVE;
	request.is_reset = true;
	good(&request);
	request.language = PACKAGE_BASH;
	bad(&request, "reset");
	request = plain();
	request.state = "alive";
	bad(&request, "state");
	request.state = NULL;
	request.run_id = "r 1";
	bad(&request, "run_id");
}

static void test_sizes(void **state)
{
	AUTO_FREE char *bytes = xcalloc(RUN_STDIN_MAX + 1, 1);
	struct call_request request = plain();

	request.code = (struct str){ bytes, PACKAGE_CODE_MAX };
	request.stdin_bytes = (struct str){ bytes, RUN_STDIN_MAX };
	good(&request);
	request.code.n++;
	bad(&request, NULL);
	request.code.n--;
	request.stdin_bytes.n++;
	bad(&request, NULL);
}

static void test_arguments_and_variables(void **state)
{
	static struct str many[PACKAGE_ARGS_MAX + 1];
	AUTO_FREE char *bytes = xcalloc(PACKAGE_ARG_BYTES_MAX, 1);
	struct call_request request = plain();
	struct str one = { bytes, PACKAGE_ARG_BYTES_MAX - 1 };
	static const char *const refused[] = { "", "A", "=1", "LD_PRELOAD=1", "PYTHONPATH=1",
		"PATH=1", "A-B=1" };

	request.args = many;
	request.n_args = PACKAGE_ARGS_MAX;
	good(&request);
	request.n_args++;
	bad(&request, "args");
	request.args = &one;
	request.n_args = 1;
	good(&request);
	one.n++;
	bad(&request, "args");
	request.n_args = 0;
	request.env = &one;
	request.n_env = 1;
	one = STR("A=1");
	good(&request);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		one = str_from(refused[i]);
		bad(&request, "env");
	}
	memset(bytes, 'A', PACKAGE_ENV_BYTES_MAX);
	bytes[1] = '=';
	one = (struct str){ bytes, PACKAGE_ENV_BYTES_MAX - 1 };
	good(&request);
	one.n++;
	bad(&request, "env");
}

static void test_paths(void **state)
{
	static const char *const good_paths[] = { "a", "a/b", ".a", "..a", "a/...", "\xff", "a b" };
	static const char *const bad_paths[] = { "", "/", "/a", "a/", "a//b", ".", "..", "a/..",
		"./a", "a/./b" };
	struct call_file file = { .content = STR("x") };
	struct call_request request = plain();
	char name[257];

	request.files = &file;
	request.n_files = 1;
	for (size_t i = 0; i < ARRAY_SIZE(good_paths); i++) {
		file.path = str_from(good_paths[i]);
		good(&request);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad_paths); i++) {
		file.path = str_from(bad_paths[i]);
		bad(&request, "files[0].path");
	}
	file.path = STR("a\0b");
	bad(&request, "files[0].path");
	memset(name, 'n', sizeof(name));
	file.path = (struct str){ name, 255 };
	good(&request);
	file.path.n++;
	bad(&request, "files[0].path");
}

static void test_contents(void **state)
{
	AUTO_FREE char *bytes = xcalloc(CALL_FILES_BYTES_MAX + 8, 2);
	struct call_file files[2] = { { .path = STR("a"), .content = STR("x") },
		{ .path = STR("b"), .content = { bytes, CALL_FILES_BYTES_MAX - 1 } } };
	struct call_request request = plain();

	request.files = files;
	request.n_files = 2;
	good(&request);
	files[1].content.n++;
	bad(&request, NULL);
	/* 8 MiB are 2796202 groups of three bytes, and two more. */
	memset(bytes, 'A', CALL_FILES_BYTES_MAX / 3 * 4 + 4);
	memcpy(bytes + CALL_FILES_BYTES_MAX / 3 * 4, "AAA=", 4);
	files[1] = (struct call_file){ .path = STR("b"),
		.content = { bytes, CALL_FILES_BYTES_MAX / 3 * 4 + 4 },
		.is_base64 = true };
	request.files = &files[1];
	request.n_files = 1;
	good(&request);
	bytes[CALL_FILES_BYTES_MAX / 3 * 4 + 3] = 'A';
	bad(&request, NULL);
	files[1].content = STR("AAA");
	bad(&request, "files[0].base64");
	request.n_files = CALL_FILES_MAX + 1;
	bad(&request, "files");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_arguments_and_variables),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_contents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
