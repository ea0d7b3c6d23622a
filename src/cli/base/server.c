/*
 * Theory of operation: the token never stands on a command line, where everybody could read it. It
 * comes from a file: the one that is named, or that of the state directory, which only goes to a
 * server of this machine: `--server http://elsewhere` must not get our token by default.
 */
#include "cli/base/server.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/macro.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "cli/base/state_dir.h"
#include "sandbox/answer.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CALL_MS	       10000 /* a person waits, and Ctrl-C has to be told in time */
#define TOKEN_FILE_MAX 4096  /* bytes: a token and its newline have far fewer */

enum option_id {
	OPTION_SERVER = 256, /* above every letter */
	OPTION_TOKEN_FILE,
	OPTION_STATE,
	OPTION_JSON,
	OPTION_HELP,
};

static const struct option long_options[] = {
	{ "server", required_argument, NULL, OPTION_SERVER },
	{ "token-file", required_argument, NULL, OPTION_TOKEN_FILE },
	{ "state", required_argument, NULL, OPTION_STATE },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "out", required_argument, NULL, 'o' },
	{ "policy", required_argument, NULL, 'y' },
	{ "profile", required_argument, NULL, 'p' },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

/* The file's one line into token. Returns 0, -ENOENT, or an exit status after saying why. */
static int token_read(const char *path, bool is_named, struct buf *token)
{
	int r = buf_add_file(token, AT_FDCWD, path);

	/* One that was not named may be missing, or be somebody else's. */
	if (!is_named && (r == -ENOENT || r == -EACCES || r == -ENOTDIR))
		return -ENOENT;
	if (r == -ENOBUFS)
		return say_usage("%s: too long for a token; name the file that has it", path);
	if (r < 0)
		return say_usage("the token in %s cannot be read: %s", path, strerror(-r));
	return 0;
}

/* Finds the token's file and reads it. Returns 0, also without a token, or an exit status. */
static int token_find(const struct server_options *options, const char *state, struct buf *token)
{
	AUTO_FREE char *own = xasprintf("%s/token", state);
	int status;

	if (options->token_file)
		return token_read(options->token_file, true, token);
	if (!state[0] || (options->server && !sandbox_is_local(options->server)))
		return 0;
	status = token_read(own, false, token);
	return status == -ENOENT ? 0 : status;
}

int server_open(const struct server_options *options, struct sandbox **ret_sandbox)
{
	AUTO_BUF struct buf token = BUF_INIT(TOKEN_FILE_MAX), line = BUF_INIT(TOKEN_FILE_MAX);
	AUTO_FREE char *own = NULL;
	struct sandbox_config config = { .server = options->server, .call_ms = CALL_MS };
	char state[PATH_MAX] = "";
	struct fault fault;
	int status;

	if (options->state && str_copy(state, sizeof(state), options->state) < 0)
		return say_usage("--state: the name is too long");
	if (!options->state && state_dir_default(state) < 0 && !options->server)
		return say_usage("which server? name it with --server, or its --state folder");
	status = token_find(options, state, &token);
	if (status != 0)
		return status;
	(void)buf_add_slice(&line, str_trim(buf_get_slice(&token)));
	if (token.len > 0)
		config.token = buf_get_cstr(&line);
	if (!config.server) {
		AUTO_FREE char *real = realpath(state, NULL);

		own = xasprintf("unix:%s/supervisor.sock", real ? real : state);
		config.server = own;
	}
	if (sandbox_new(&config, ret_sandbox, &fault) == 0)
		return 0;
	return say_usage("--server: %s", fault.text);
}

static int option_take(struct server_command *command, int what, char **argv)
{
	struct server_options *options = &command->options;

	switch (what) {
	case OPTION_SERVER:
		options->server = optarg;
		return 0;
	case OPTION_TOKEN_FILE:
		options->token_file = optarg;
		return 0;
	case OPTION_STATE:
		options->state = optarg;
		return 0;
	case OPTION_JSON:
		options->is_json = true;
		return 0;
	case 'h':
	case OPTION_HELP:
		options->is_help = true;
		return 0;
	case ':':
		return say_usage("%s needs a value; see `cloche %s --help`", argv[optind - 1],
			command->name);
	default:
		break;
	}
	if (what != '?' && strchr(command->more, what) && command->on_option)
		return command->on_option(command, what, optarg);
	return say_usage("there is no option %s here; see `cloche %s --help`", argv[optind - 1],
		command->name);
}

int server_command_parse(struct server_command *command, int argc, char **argv)
{
	AUTO_FREE char *letters = xasprintf(":h%s", command->more);
	int what, status = 0;

	optind = 0; /* glibc: begin anew, getopt(3) */
	while (status == 0 && (what = getopt_long(argc, argv, letters, long_options, NULL)) != -1)
		status = option_take(command, what, argv);
	command->first = optind;
	return status;
}

/* Whether the advice says no more than the line before it, which has the field and the text. */
static bool is_said(const struct fault *fault)
{
	static const char field[] = "Mend the field ";

	return strncmp(fault_advice(fault), field, strlen(field)) == 0 ||
	       strstr(fault_advice(fault), fault->text);
}

/* What helps, in words of the command line where the API's own are about its requests. */
static void advice_say(const struct sandbox_trouble *trouble)
{
	const struct fault *fault = &trouble->fault;

	if (trouble->retry_after_s > 0)
		say("try again after %u s", trouble->retry_after_s);
	if (trouble->retry_after_s > 0 && fault->code != FAULT_SANDBOX_BUSY)
		return;
	if (trouble->is_told && fault->code == FAULT_UNAUTHORIZED)
		say("name the file of its token with --token-file, or its folder with --state");
	else if (trouble->is_told && !is_said(fault))
		say("%s", fault_advice(fault));
	else if (!trouble->is_told && fault->advice[0])
		say("%s", fault->advice);
}

int server_trouble_say(const char *name, int r, const struct sandbox_trouble *told, bool is_json)
{
	AUTO_JSON struct json *problem = NULL;
	struct sandbox_trouble own = *told;
	const struct sandbox_trouble *trouble = &own;
	const char *field = own.fault.field;

	if (r == -ECONNREFUSED)
		fault_advise(&own.fault,
			"start one with `cloche up`, or name another with --state or --server");
	if (is_json)
		problem = answer_problem(&own.fault);
	if (problem)
		(void)say_json(problem);
	if (trouble->is_told)
		say("%s%s%s%s%s", name ? name : "", name ? ": " : "", field, field[0] ? ": " : "",
			trouble->fault.text);
	else
		say("%s", trouble->fault.text);
	advice_say(trouble);
	return trouble->fault.code == FAULT_BAD_REQUEST && !trouble->is_told ? EXIT_USAGE
									     : EXIT_OURS;
}
