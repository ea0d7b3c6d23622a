/*
 * Makes one call of the client module, for tests of what the command does not use.
 *
 * usage: client-driver SERVER TOKEN|- VERB [ARGUMENT...]
 *
 * Prints what came as lines; the last one is "returned R", and with an error "told CODE: TEXT".
 */
#include "base/buf.h"
#include "base/macro.h"
#include "client/files.h"
#include "client/run.h"
#include "json/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct driver {
	struct sandbox *sandbox;
	struct sandbox_trouble trouble;
	struct sandbox_watch watch;
	char **words;
};

static int json_print(int r, struct json *j)
{
	AUTO_BUF struct buf text = BUF_INIT(1u << 26);

	if (r == 0 && json_write(j, &text) == 0)
		(void)printf("%s\n", buf_get_cstr(&text));
	json_free(j);
	return r;
}

static int health(struct driver *driver)
{
	struct json *j = NULL;
	int r = sandbox_health(driver->sandbox, &j, &driver->trouble);

	return json_print(r, j);
}

static int ready(struct driver *driver)
{
	struct json *j = NULL;
	int r = sandbox_ready(driver->sandbox, &j, &driver->trouble);

	return json_print(r, j);
}

static int info(struct driver *driver)
{
	struct json *j = NULL;
	int r = sandbox_info(driver->sandbox, &j, &driver->trouble);

	return json_print(r, j);
}

static int head(struct driver *driver)
{
	struct sandbox_file_head found;
	int r = sandbox_file_head(driver->sandbox, driver->words[0], str_from(driver->words[1]),
		&found, &driver->trouble);

	if (r == 0)
		(void)printf("%" PRIu64 " %s\n", found.size_bytes, found.mime);
	return r;
}

static int on_started(struct sandbox_watch *watch, struct str run_id, struct str session_state)
{
	(void)printf("started %.*s\n", STR_ARG(session_state));
	return 0;
}

static int on_queued(struct sandbox_watch *watch, unsigned position)
{
	(void)printf("queued %u\n", position);
	return 0;
}

/* A script that prints "stop" is stopped from here. */
static int on_output(struct sandbox_watch *watch, bool is_stderr, struct str text)
{
	(void)printf("%s %.*s", is_stderr ? "stderr" : "stdout", STR_ARG(text));
	return str_eq(text, STR("stop\n")) ? -EPIPE : 0;
}

/* run KEY CODE: with two inline files, one of which is no text. */
static int run(struct driver *driver, bool is_stream)
{
	static const struct sandbox_inline_file files[] = { { "a/text", STR("t\xc3\xa9xt") },
		{ "bytes", STR("\xff\0") } };
	static const char *const env[] = { "A=b" };
	const struct sandbox_run_request request = { .session = driver->words[0],
		.language = "python",
		.code = str_from(driver->words[1]),
		.env = env,
		.n_env = 1,
		.files = files,
		.n_files = 2 };
	struct sandbox_answer answer = { .whole = NULL };
	int r = (is_stream ? sandbox_run_stream : sandbox_run)(
		driver->sandbox, &request, &driver->watch, &answer, &driver->trouble);

	if (r == 0)
		(void)printf("%.*s %.*s %.*s", STR_ARG(answer.outcome), STR_ARG(answer.reason),
			STR_ARG(answer.out.text));
	sandbox_answer_fini(&answer);
	return r;
}

static int run_whole(struct driver *driver)
{
	return run(driver, false);
}

static int run_stream(struct driver *driver)
{
	return run(driver, true);
}

static const struct {
	const char *name;
	int n_words;
	int (*call)(struct driver *driver);
} verbs[] = {
	{ "health", 0, health },
	{ "ready", 0, ready },
	{ "info", 0, info },
	{ "head", 2, head },
	{ "run", 2, run_whole },
	{ "stream", 2, run_stream },
};

int main(int argc, char **argv)
{
	struct driver driver = { .watch = { .on_started = on_started,
					 .on_queued = on_queued,
					 .on_output = on_output } };
	struct sandbox_config config = { .connect_ms = 1000, .call_ms = 1500 };
	struct fault fault;
	int r = -ENOSYS;

	if (argc < 4)
		return 2;
	config.server = argv[1];
	config.token = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
	driver.words = argv + 4;
	if (sandbox_new(&config, &driver.sandbox, &fault) < 0) {
		(void)printf("told %s: %s\n", fault_name(fault.code), fault.text);
		return 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(argv[3], verbs[i].name) == 0 && argc == 4 + verbs[i].n_words)
			r = verbs[i].call(&driver);
	if (r < 0)
		(void)printf("told %s: %s\n", fault_name(driver.trouble.fault.code),
			driver.trouble.fault.text);
	(void)printf("returned %s\n", r == 0 ? "0" : strerrorname_np(-r));
	sandbox_free(driver.sandbox);
	return r == 0 ? 0 : 1;
}
