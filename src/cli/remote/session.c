/* `cloche session`: the open sessions of a supervisor. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/macro.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "cli/base/server.h"
#include "cli/remote/remote.h"
#include "client/files.h"
#include "client/sandbox.h"
#include "sandbox/human.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

#define ROW "%-24s %-12s %-8s %-9s %-7s %9s %9s  %s\n"

/* Bytes as people say them; "-" where they are not known. */
static void size_cell(const struct json *row, const char *name, char cell[CELL_SIZE])
{
	AUTO_BUF struct buf shown = BUF_INIT(CELL_SIZE - 1);
	int64_t bytes = 0;

	if (json_as_integer(json_get(row, name), &bytes) < 0 || bytes < 0)
		(void)buf_add_char(&shown, '-');
	else
		human_bytes(&shown, (uint64_t)bytes);
	(void)str_copy(cell, CELL_SIZE, buf_get_cstr(&shown));
}

static void row_print(const struct json *row)
{
	char key[CELL_SIZE], tenant[CELL_SIZE], profile[CELL_SIZE], run[CELL_SIZE];
	char policy[CELL_SIZE], phase[CELL_SIZE], size[CELL_SIZE], expires[CELL_SIZE];

	text_cell(row, "session", key);
	text_cell(row, "tenant", tenant);
	text_cell(row, "profile", profile);
	text_cell(row, "policy", policy);
	text_cell(row, "phase", phase);
	text_cell(row, "run_id", run);
	size_cell(row, "bytes", size);
	time_cell(row, "expires_in_ms", expires);
	(void)printf(ROW, key, tenant, profile, policy, phase, size, expires, run);
}

static int list(const struct sandbox *sandbox, const struct server_command *command)
{
	AUTO_JSON struct json *all = NULL;
	struct sandbox_trouble trouble;
	const struct json *rows;
	int r = sandbox_sessions(sandbox, &all, &trouble);

	if (r < 0)
		return server_trouble_say(NULL, r, &trouble, command->options.is_json);
	if (command->options.is_json)
		return say_json(all);
	rows = json_get(all, "sessions");
	if (json_size(rows) == 0)
		say_done(false, "no sessions");
	else
		(void)printf(ROW, "SESSION", "TENANT", "PROFILE", "POLICY", "PHASE", "BYTES",
			"GONE IN", "RUN");
	for (size_t i = 0; i < json_size(rows); i++)
		row_print(json_at(rows, i));
	return 0;
}

static int show(
	const struct sandbox *sandbox, const struct server_command *command, const char *key)
{
	static const char *const texts[] = { "session", "tenant", "profile", "policy", "state",
		"phase", "run_id", "created" };
	static const struct {
		const char *label, *name;
		bool is_of_active;
	} times[] = { { "opened", "opened_ms_ago", true }, { "idle", "idle_ms", false },
		{ "closes in", "closes_in_ms", true }, { "gone in", "expires_in_ms", false } };
	struct str phase = STR("");
	AUTO_JSON struct json *session = NULL;
	struct sandbox_trouble trouble;
	int r = sandbox_session_get(sandbox, key, &session, &trouble);
	char cell[CELL_SIZE];
	bool is_stopped;

	if (r < 0)
		return server_trouble_say(key, r, &trouble, command->options.is_json);
	if (command->options.is_json)
		return say_json(session);
	(void)json_as_text(json_get(session, "phase"), &phase);
	is_stopped = str_eq(phase, STR("stopped"));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		text_cell(session, texts[i], cell);
		(void)printf(
			"%-10s %s\n", strcmp(texts[i], "run_id") == 0 ? "run" : texts[i], cell);
	}
	(void)printf("%-10s %" PRId64 "\n", "runs", count_get(session, "runs"));
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		/* One that has stopped is neither open nor about to stop. */
		if (is_stopped && times[i].is_of_active)
			continue;
		time_cell(session, times[i].name, cell);
		(void)printf("%-10s %s%s\n", times[i].label, cell, i == 0 ? " ago" : "");
	}
	size_cell(session, "bytes", cell);
	(void)printf("%-10s %s\n", "bytes", cell);
	size_cell(session, "disk_bytes", cell);
	(void)printf("%-10s %s\n", "on disk", cell);
	return 0;
}

static void done_say(const struct server_command *command, const char *what, const char *name)
{
	AUTO_BUF struct buf shown = BUF_INIT(4 * PATH_MAX);

	say_name(&shown, str_from(name));
	say_done(command->options.is_json, "%s %s", what, buf_get_cstr(&shown));
}

static int stop_one(
	const struct sandbox *sandbox, const struct server_command *command, const char *key)
{
	struct sandbox_trouble trouble;
	int r = sandbox_session_stop(sandbox, key, &trouble);

	if (r < 0)
		return server_trouble_say(key, r, &trouble, command->options.is_json);
	done_say(command, "stopped", key);
	return 0;
}

static int close_one(
	const struct sandbox *sandbox, const struct server_command *command, const char *key)
{
	struct sandbox_trouble trouble;
	int r = sandbox_session_close(sandbox, key, &trouble);

	if (r < 0)
		return server_trouble_say(key, r, &trouble, command->options.is_json);
	done_say(command, "removed", key);
	return 0;
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

/* What --out, --policy and --profile said: of one command line. */
struct session_options {
	struct server_command command;
	const char *out, *policy, *profile;
};

static int on_option(struct server_command *command, int option, const char *value)
{
	struct session_options *options = container_of(command, struct session_options, command);

	if (option == 'o')
		options->out = value;
	else if (option == 'y')
		options->policy = value;
	else
		options->profile = value;
	return 0;
}

/* KEY.tar, or --out; nothing is overwritten. */
static int export(
	const struct sandbox *sandbox, const struct session_options *options, const char *key)
{
	AUTO_FREE char *made = xasprintf("%s.tar", key);
	const char *name = options->out ? options->out : made;
	bool is_stdout = strcmp(name, "-") == 0;
	AUTO_CLOSE int fd =
		is_stdout ? fd_dup_above(STDOUT_FILENO, 0)
			  : open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
	struct sandbox_trouble trouble;
	int r;

	if (fd < 0)
		return say_usage("%s: %s; name another file with --out", name, strerror(errno));
	r = sandbox_session_export(sandbox, key, fd, &trouble);
	if (r == 0 && !is_stdout)
		done_say(&options->command, "wrote", name);
	if (r == 0)
		return 0;
	if (!is_stdout)
		(void)unlink(name);
	return server_trouble_say(key, r, &trouble, options->command.options.is_json);
}

static int import(const struct sandbox *sandbox, const struct session_options *options,
	const char *key, const char *from)
{
	/* O_NONBLOCK: a FIFO must be refused, not waited for. */
	AUTO_CLOSE int fd = open(from, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct sandbox_put put = {
		.key = key, .policy = options->policy, .profile = options->profile, .fd = fd
	};
	AUTO_JSON struct json *answer = NULL;
	struct sandbox_trouble trouble;
	int64_t skipped;
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return say_unreadable("", from, errno);
	if (!S_ISREG(st.st_mode))
		return say_usage("%s: is no regular file", from);
	put.size_bytes = (uint64_t)st.st_size;
	r = sandbox_session_import(sandbox, &put, &answer, &trouble);
	if (r < 0)
		return server_trouble_say(put.key, r, &trouble, options->command.options.is_json);
	skipped = count_get(answer, "skipped");
	if (skipped > 0)
		say("%s: %" PRId64 " entries of it were passed over: devices, fifos and what else "
		    "is not kept",
			from, skipped);
	done_say(&options->command, "imported", key);
	return options->command.options.is_json ? say_json(answer) : 0;
}

static const struct {
	const char *name;
	int (*run)(const struct sandbox *, const struct server_command *, const char *);
} verbs[] = { { "show", show }, { "stop", stop_one }, { "rm", close_one } };

static int verb_run(
	const struct sandbox *sandbox, const struct session_options *options, char **words)
{
	const struct server_command *command = &options->command;

	if (strcmp(words[0], "export") == 0)
		return export(sandbox, options, words[1]);
	if (strcmp(words[0], "import") == 0)
		return import(sandbox, options, words[1], words[2]);
	if (strcmp(words[0], "ls") == 0)
		return list(sandbox, command);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(words[0], verbs[i].name) == 0)
			return each(sandbox, command, words + 1, verbs[i].run);
	unreachable_();
}

static int words_check(char **words)
{
	bool is_known = false;

	if (words[0] && strcmp(words[0], "ls") == 0)
		return words[1] ? say_usage("session ls takes no '%s'; use show", words[1]) : 0;
	if (words[0] && strcmp(words[0], "export") == 0)
		return words[1] && !words[2] ? 0 : say_usage("session export takes one KEY");
	if (words[0] && strcmp(words[0], "import") == 0)
		return words[1] && words[2] && !words[3]
			       ? 0
			       : say_usage("session import takes KEY and FILE, a tar");
	for (size_t i = 0; words[0] && i < ARRAY_SIZE(verbs); i++)
		is_known |= strcmp(words[0], verbs[i].name) == 0;
	if (!is_known)
		return say_usage("say what: cloche session ls, show KEY, stop KEY, rm KEY, export "
				 "KEY or import "
				 "KEY FILE");
	return words[1] ? 0 : say_usage("which session? `cloche session ls` lists them");
}

/* Options of another verb are a mistake, not nothing. */
static int options_check(const struct session_options *options, const char *verb)
{
	if (options->out && strcmp(verb, "export") != 0)
		return say_usage("--out is for session export");
	if ((options->policy || options->profile) && strcmp(verb, "import") != 0)
		return say_usage("--policy and --profile are for session import");
	return 0;
}

int cli_session(int argc, char **argv)
{
	struct session_options options = {
		.command = { .name = "session", .more = "o:y:p:", .on_option = on_option }
	};
	struct server_command *command = &options.command;
	struct sandbox *sandbox = NULL;
	int status = server_command_parse(command, argc, argv);

	if (status != 0)
		return status;
	if (command->options.is_help)
		return EXIT_HELP;
	status = words_check(argv + command->first);
	if (status == 0)
		status = options_check(&options, argv[command->first]);
	if (status == 0)
		status = server_open(&command->options, &sandbox);
	if (status == 0)
		status = verb_run(sandbox, &options, argv + command->first);
	sandbox_free(sandbox);
	return status;
}
