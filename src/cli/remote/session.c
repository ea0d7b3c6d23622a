/* `cloche session`: the open sessions of a supervisor. */
#include "base/buf.h"
#include "base/macro.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "cli/base/server.h"
#include "cli/remote/remote.h"
#include "client/sandbox.h"
#include "sandbox/human.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CELL_SIZE 512 /* a key of 128 bytes, each escaped */

/* A member's text, safe for a terminal; "-" where there is none. */
static void text_cell(const struct json *row, const char *name, char cell[CELL_SIZE])
{
	AUTO_BUF struct buf shown = BUF_INIT(CELL_SIZE - 1);
	struct str text = STR("-");

	(void)json_as_text(json_get(row, name), &text);
	say_name(&shown, text);
	(void)str_copy(cell, CELL_SIZE, buf_get_cstr(&shown));
}

/* A member's milliseconds as people say them. */
static void time_cell(const struct json *row, const char *name, char cell[CELL_SIZE])
{
	AUTO_BUF struct buf shown = BUF_INIT(CELL_SIZE - 1);
	int64_t ms = 0;

	(void)json_as_integer(json_get(row, name), &ms);
	human_duration(&shown, ms > 0 ? (uint64_t)ms * 1000 : 0);
	(void)str_copy(cell, CELL_SIZE, buf_get_cstr(&shown));
}

static int64_t count_get(const struct json *row, const char *name)
{
	int64_t n = 0;

	(void)json_as_integer(json_get(row, name), &n);
	return n;
}

static void row_print(const struct json *row)
{
	char key[CELL_SIZE], tenant[CELL_SIZE], profile[CELL_SIZE], run[CELL_SIZE];
	char age[CELL_SIZE], closes[CELL_SIZE];

	text_cell(row, "session", key);
	text_cell(row, "tenant", tenant);
	text_cell(row, "profile", profile);
	text_cell(row, "run_id", run);
	time_cell(row, "opened_ms_ago", age);
	time_cell(row, "closes_in_ms", closes);
	(void)printf("%-24s %-12s %-8s %8s %9s %4" PRId64 "  %s\n", key, tenant, profile, age,
		closes, count_get(row, "runs"), run);
}

static int list(const struct sandbox *sandbox, const struct server_command *command)
{
	AUTO_JSON struct json *all = NULL;
	struct sandbox_trouble trouble;
	const struct json *rows;
	int r = sandbox_sessions(sandbox, &all, &trouble);

	if (r < 0)
		return server_trouble_say(r, &trouble, command->options.is_json);
	if (command->options.is_json)
		return say_json(all);
	rows = json_get(all, "sessions");
	if (json_size(rows) > 0)
		(void)printf("%-24s %-12s %-8s %8s %9s %4s  %s\n", "SESSION", "TENANT", "PROFILE",
			"AGE", "CLOSES IN", "RUNS", "RUN");
	for (size_t i = 0; i < json_size(rows); i++)
		row_print(json_at(rows, i));
	return 0;
}

static int show(
	const struct sandbox *sandbox, const struct server_command *command, const char *key)
{
	static const char *const texts[] = { "session", "tenant", "profile", "policy", "state",
		"run_id" };
	static const struct {
		const char *label, *name;
	} times[] = { { "opened", "opened_ms_ago" }, { "idle", "idle_ms" },
		{ "closes in", "closes_in_ms" } };
	AUTO_JSON struct json *session = NULL;
	struct sandbox_trouble trouble;
	int r = sandbox_session_get(sandbox, key, &session, &trouble);
	char cell[CELL_SIZE];

	if (r < 0)
		return server_trouble_say(r, &trouble, command->options.is_json);
	if (command->options.is_json)
		return say_json(session);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		text_cell(session, texts[i], cell);
		(void)printf(
			"%-10s %s\n", strcmp(texts[i], "run_id") == 0 ? "run" : texts[i], cell);
	}
	(void)printf("%-10s %" PRId64 "\n", "runs", count_get(session, "runs"));
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		time_cell(session, times[i].name, cell);
		(void)printf("%-10s %s%s\n", times[i].label, cell, i == 0 ? " ago" : "");
	}
	return 0;
}

static int close_one(
	const struct sandbox *sandbox, const struct server_command *command, const char *key)
{
	struct sandbox_trouble trouble;
	int r = sandbox_session_close(sandbox, key, &trouble);

	return r < 0 ? server_trouble_say(r, &trouble, command->options.is_json) : 0;
}

/* Does the verb for each key; the first failure is the status. */
static int each(const struct sandbox *sandbox, const struct server_command *command, char **keys,
	int (*verb)(const struct sandbox *, const struct server_command *, const char *))
{
	int status = 0;

	for (; *keys; keys++) {
		int r = verb(sandbox, command, *keys);

		status = status == 0 ? r : status;
	}
	return status;
}

static int verb_run(
	const struct sandbox *sandbox, const struct server_command *command, char **words)
{
	if (strcmp(words[0], "ls") == 0)
		return list(sandbox, command);
	return each(sandbox, command, words + 1, strcmp(words[0], "show") == 0 ? show : close_one);
}

static int words_check(char **words)
{
	if (words[0] && strcmp(words[0], "ls") == 0)
		return words[1] ? say_usage("session ls takes no '%s'; use show", words[1]) : 0;
	if (!words[0] || (strcmp(words[0], "show") != 0 && strcmp(words[0], "rm") != 0))
		return say_usage("say what: cloche session ls, show KEY or rm KEY");
	return words[1] ? 0 : say_usage("which session? `cloche session ls` lists them");
}

int cli_session(int argc, char **argv)
{
	struct server_command command = { .name = "session", .more = "" };
	struct sandbox *sandbox = NULL;
	int status = server_command_parse(&command, argc, argv);

	if (status != 0)
		return status;
	if (command.options.is_help)
		return EXIT_HELP;
	status = words_check(argv + command.first);
	if (status == 0)
		status = server_open(&command.options, &sandbox);
	if (status == 0)
		status = verb_run(sandbox, &command, argv + command.first);
	sandbox_free(sandbox);
	return status;
}
