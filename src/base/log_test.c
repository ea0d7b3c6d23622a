#include "base/log.h"

#include "base/fd.h"
#include "base/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int saved_stderr;
static int pipe_fds[2];

static int catch_stderr(void **state)
{
	saved_stderr = fd_dup_above(STDERR_FILENO, 10);
	if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	return dup2(pipe_fds[1], STDERR_FILENO) < 0 ? -1 : 0;
}

static int release_stderr(void **state)
{
	dup2(saved_stderr, STDERR_FILENO);
	(void)fd_close(saved_stderr);
	(void)fd_close(pipe_fds[0]);
	(void)fd_close(pipe_fds[1]);
	log_level = LOG_LEVEL_INFO;
	return 0;
}

/* What was logged since the last call; "" for nothing. */
static const char *caught(void)
{
	static char text[4 * LOG_LINE_MAX];
	ssize_t n = read(pipe_fds[0], text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void test_a_line_has_its_level_and_pairs(void **state)
{
	log_info("msg=\"run finished\" run=%s ms=%d", "abc", 812);
	assert_string_equal(caught(), "level=info msg=\"run finished\" run=abc ms=812\n");
}

static void test_level_decides(void **state)
{
	log_debug("msg=hidden");
	assert_string_equal(caught(), "");
	log_level = LOG_LEVEL_DEBUG;
	log_debug("msg=shown");
	assert_string_equal(caught(), "level=debug msg=shown\n");
	log_level = LOG_LEVEL_ERROR;
	log_warning("msg=hidden");
	assert_string_equal(caught(), "");
}

static void test_errno_is_kept(void **state)
{
	errno = ENOTTY;
	log_error("msg=x");
	assert_int_equal(errno, ENOTTY);
	assert_string_equal(caught(), "level=error msg=x\n");
}

static void test_a_stranger_cannot_make_a_second_line(void **state)
{
	log_info("name=%s", "x\nlevel=error msg=forged");
	assert_string_equal(caught(), "level=info name=x?level=error msg=forged\n");
	log_info("name=%s", LOG_VALUE("x\nlevel=error"));
	assert_string_equal(caught(), "level=info name=\"x\\nlevel=error\"\n");
}

static void test_a_long_line_is_cut(void **state)
{
	char text[2 * LOG_LINE_MAX];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_info("v=%s", text);
	assert_int_equal(strlen(caught()), LOG_LINE_MAX);
	assert_int_equal(caught()[0], '\0');
}

static void test_a_full_pipe_costs_lines_and_no_time(void **state)
{
	static char chunk[4096];

	memset(chunk, '.', sizeof(chunk));
	while (write(pipe_fds[1], chunk, sizeof(chunk)) > 0)
		;
	assert_int_equal(fcntl(pipe_fds[1], F_SETFL, 0), 0);
	log_drop_when_full();
	(void)alarm(10); /* if it waits after all */
	log_info("msg=lost");
	log_info("msg=lost");
	while (read(pipe_fds[0], chunk, sizeof(chunk)) > 0)
		;
	log_info("msg=x");
	assert_string_equal(
		caught(), "level=info msg=x\nlevel=warning msg=\"lines dropped\" lines=2\n");
	log_info("msg=y");
	assert_string_equal(caught(), "level=info msg=y\n");
	(void)alarm(0);
}

static void test_quoting(void **state)
{
	char text[2 * LOG_VALUE_MAX];

	assert_string_equal(LOG_VALUE("bare/path.py"), "bare/path.py");
	assert_string_equal(LOG_VALUE(NULL), "\"\"");
	assert_string_equal(LOG_VALUE("a b"), "\"a b\"");
	assert_string_equal(LOG_VALUE("a=\"\\\t\x01"), "\"a=\\\"\\\\\\t\\x01\"");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_true(strlen(LOG_VALUE(text)) < LOG_VALUE_MAX);
	assert_non_null(strstr(LOG_VALUE(text), "x...\""));
	memset(text, '\x01', sizeof(text) - 1);
	assert_true(strlen(LOG_VALUE(text)) < LOG_VALUE_MAX);
}

static void test_level_names(void **state)
{
	enum log_level level = LOG_LEVEL_MAX;

	assert_int_equal(log_level_parse("warning", &level), 0);
	assert_int_equal(level, LOG_LEVEL_WARNING);
	assert_int_equal(log_level_parse("loud", &level), -EINVAL);
	assert_int_equal(level, LOG_LEVEL_WARNING);
}

#define CAUGHT(test) cmocka_unit_test_setup_teardown(test, catch_stderr, release_stderr)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CAUGHT(test_a_line_has_its_level_and_pairs),
		CAUGHT(test_level_decides),
		CAUGHT(test_errno_is_kept),
		CAUGHT(test_a_stranger_cannot_make_a_second_line),
		CAUGHT(test_a_long_line_is_cut),
		CAUGHT(test_a_full_pipe_costs_lines_and_no_time),
		cmocka_unit_test(test_quoting),
		cmocka_unit_test(test_level_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
