/*
 * Theory of operation: the words behind the first "--" are the script's and are cut off before
 * getopt_long sees the rest, so that it may sort options and the script's name freely. Each option
 * has a row with a function that checks it alone; what depends on two options (the time limit on
 * the profile) is checked at the end. Everything that can be wrong is said here, before anything
 * runs.
 */
#include "cli/run/run_options.h"

#include "base/fault.h"
#include "base/id.h"
#include "base/macro.h"
#include "base/str.h"
#include "cli/base/say.h"
#include "sandbox/language.h"
#include "sandbox/profile.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum option_id {
	OPTION_JSON = 256, /* above every letter */
	OPTION_ROOTFS,
	OPTION_UNLIMITED,
	OPTION_FAIL_STAGE,
	OPTION_SERVER,
	OPTION_TOKEN_FILE,
	OPTION_STATE,
	OPTION_SESSION,
	OPTION_POLICY,
	OPTION_LIVE,
	OPTION_RESET,
	OPTION_HELP,
};

static const struct option long_options[] = {
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "language", required_argument, NULL, 'l' },
	{ "file", required_argument, NULL, 'f' },
	{ "out", required_argument, NULL, 'o' },
	{ "profile", required_argument, NULL, 'p' },
	{ "timeout", required_argument, NULL, 't' },
	{ "stdin", required_argument, NULL, 'i' },
	{ "env", required_argument, NULL, 'e' },
	{ "rootfs", required_argument, NULL, OPTION_ROOTFS },
	{ "unlimited-host", no_argument, NULL, OPTION_UNLIMITED },
	{ "server", required_argument, NULL, OPTION_SERVER },
	{ "token-file", required_argument, NULL, OPTION_TOKEN_FILE },
	{ "state", required_argument, NULL, OPTION_STATE },
	{ "session", required_argument, NULL, OPTION_SESSION },
	{ "policy", required_argument, NULL, OPTION_POLICY },
	{ "live", no_argument, NULL, OPTION_LIVE },
	{ "reset", no_argument, NULL, OPTION_RESET },
#ifdef CLOCHE_FAULT_INJECTION
	{ "fail-stage", required_argument, NULL, OPTION_FAIL_STAGE },
#endif
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

static const char short_options[] = ":l:f:o:p:t:i:e:h";

__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	(void)say_usage("%s", text);
	return -EINVAL;
}

static int set_language(struct run_options *options, const char *value)
{
	if (language_parse(str_from(value), &options->language) < 0)
		return refuse("--language %s: this is not a language; use python or bash", value);
	options->has_language = true;
	return 0;
}

static int add_file(struct run_options *options, const char *value)
{
	if (options->n_files == RUN_FILES_MAX)
		return refuse("--file: at most %d files; put them into an archive", RUN_FILES_MAX);
	options->files[options->n_files++] = value;
	return 0;
}

/* The place of the variable: that of the same name, so that the last one wins, or a new one. */
static unsigned env_place(const struct run_options *options, const char *value, size_t name_length)
{
	unsigned i = 0;

	while (i < options->n_env && strncmp(options->env[i], value, name_length + 1) != 0)
		i++;
	return i;
}

static int add_env(struct run_options *options, const char *value)
{
	const char *equals = strchr(value, '=');
	unsigned place;

	if (!equals)
		return refuse("--env %s: write NAME=VALUE", value);
	if (!package_env_is_allowed(value))
		return refuse("--env %.*s: this name is the jail's own or no name; "
			      "use letters, digits and _",
			(int)MIN((size_t)(equals - value), (size_t)64), value);
	place = env_place(options, value, (size_t)(equals - value));
	if (place == PACKAGE_ENV_MAX)
		return refuse("--env: at most %d variables; put them into a file and --file it",
			PACKAGE_ENV_MAX);
	options->env[place] = value;
	options->n_env = MAX(options->n_env, place + 1);
	return 0;
}

static int check_env(const struct run_options *options)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < options->n_env; i++)
		bytes += strlen(options->env[i]) + 1;
	if (bytes > PACKAGE_ENV_BYTES_MAX)
		return refuse("--env: %zu bytes of variables, at most %d; use --file or --stdin",
			bytes, PACKAGE_ENV_BYTES_MAX);
	return 0;
}

static int check_args(const struct run_options *options)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < options->n_args; i++)
		bytes += strlen(options->args[i]) + 1;
	if (bytes > PACKAGE_ARG_BYTES_MAX)
		return refuse("the arguments have %zu bytes, at most %d; use --file or --stdin",
			bytes, PACKAGE_ARG_BYTES_MAX);
	return 0;
}

static int check_timeout(struct run_options *options, const char *timeout)
{
	uint64_t max_ms = options->limits.wall_ms;
	int r;

	options->wall_ms = max_ms;
	options->has_timeout = timeout != NULL;
	if (!timeout)
		return 0;
	r = str_to_ms(str_from(timeout), max_ms, &options->wall_ms);
	if (r == -ERANGE && !options->profile)
		return refuse("--timeout %s: no profile allows more than %g seconds", timeout,
			(double)max_ms / 1000);
	if (r == -ERANGE)
		return refuse("--timeout %s: profile %s allows up to %g seconds%s", timeout,
			options->profile, (double)max_ms / 1000,
			strcmp(options->profile, "roomy") == 0 ? ""
							       : "; --profile roomy allows more");
	if (r < 0 || options->wall_ms == 0)
		return refuse("--timeout %s: give seconds above 0, such as 10 or 2.5", timeout);
	return 0;
}

/* The limits of the profile with the longest time: a server's session may have any. */
static int take_longest(struct run_options *options)
{
	const char *name;

	for (unsigned i = 0; (name = profile_name(i)) != NULL; i++) {
		struct wire_limits limits;
		struct fault fault;

		if (profile_get(name, &limits, &fault) == 0 &&
			limits.wall_ms > options->limits.wall_ms)
			options->limits = limits;
	}
	return 0;
}

static int check_profile(struct run_options *options)
{
	struct fault fault;

	if (!options->profile && options->server.server)
		return take_longest(options);
	if (!options->profile)
		options->profile = PROFILE_DEFAULT;
	if (profile_get(options->profile, &options->limits, &fault) == 0)
		return 0;
	return refuse("--profile: %s", fault.text);
}

/* An option that getopt does not know, or one without its value. */
static int refuse_option(int what, char *const argv[])
{
	const char *word = argv[optind - 1];

	if (what == ':')
		return refuse("%s needs a value; see `cloche run --help`", word);
	if (optopt > 0 && optopt < 256)
		return refuse("there is no option -%c; see `cloche run --help`", optopt);
	return refuse("there is no option %s, or it takes no value; see `cloche run --help`", word);
}

/* The API's field `state` is another thing, and who knows it may try it here. */
static int set_state(struct run_options *options, const char *value)
{
	if (strcmp(value, "live") == 0 || strcmp(value, "fresh") == 0)
		return refuse(
			"--state %s: this option names a state directory (./%s would be one); "
			"a live interpreter is --live, a fresh one needs no option",
			value, value);
	options->server.state = value;
	return 0;
}

static int set_remote(struct run_options *options, int what, char **argv)
{
	switch (what) {
	case OPTION_SERVER:
		options->server.server = optarg;
		return 0;
	case OPTION_TOKEN_FILE:
		options->server.token_file = optarg;
		return 0;
	case OPTION_STATE:
		return set_state(options, optarg);
	case OPTION_SESSION:
		if (!id_key_is_valid(optarg, strlen(optarg)))
			return refuse("--session %.128s: a key is 1 to 128 of A-Z a-z 0-9 . _ : -",
				optarg);
		options->session = optarg;
		return 0;
	case OPTION_POLICY:
		if (strcmp(optarg, "kept") != 0 && strcmp(optarg, "ephemeral") != 0)
			return refuse("--policy %s: say kept or ephemeral", optarg);
		options->policy = optarg;
		return 0;
	case OPTION_LIVE:
		options->is_live = true;
		return 0;
	case OPTION_RESET:
		options->is_reset = true;
		return 0;
	default:
		return refuse_option(what, argv);
	}
}

static int set_option(struct run_options *options, int what, const char **timeout, char **argv)
{
	switch (what) {
	case OPTION_JSON:
		options->is_json = true;
		return 0;
	case OPTION_UNLIMITED:
		options->is_host_unlimited = true;
		return 0;
	case OPTION_ROOTFS:
		options->rootfs = optarg;
		return 0;
	case OPTION_FAIL_STAGE:
		options->fail_stage = optarg;
		return 0;
	case 'l':
		return set_language(options, optarg);
	case 'f':
		return add_file(options, optarg);
	case 'o':
		options->out_dir = optarg;
		return 0;
	case 'p':
		options->profile = optarg;
		return 0;
	case 't':
		*timeout = optarg;
		return 0;
	case 'i':
		options->stdin_path = optarg;
		return 0;
	case 'e':
		return add_env(options, optarg);
	default:
		return set_remote(options, what, argv);
	}
}

/* Cuts off what stands behind the first "--". Returns the number of words before it, or -EINVAL. */
static int take_args(struct run_options *options, int argc, char **argv)
{
	int end = 1;

	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	for (int i = end + 1; i < argc; i++) {
		if (options->n_args == PACKAGE_ARGS_MAX)
			return refuse("at most %d arguments for the script; use --file or --stdin",
				PACKAGE_ARGS_MAX);
		options->args[options->n_args++] = argv[i];
	}
	return end;
}

static int take_script(struct run_options *options, int argc, char **argv)
{
	if (optind == argc)
		return refuse("which script? name a file, or - for standard input; "
			      "see `cloche run --help`");
	options->script = argv[optind];
	if (optind + 1 < argc)
		return refuse("'%s' is one word too many: the script's own arguments go behind --: "
			      "cloche run %s -- %s",
			argv[optind + 1], options->script, argv[optind + 1]);
	if (options->stdin_path && strcmp(options->stdin_path, "-") == 0 &&
		strcmp(options->script, "-") == 0)
		return refuse("--stdin -: the script itself comes from standard input; "
			      "put one of the two into a file");
	return 0;
}

/* Some options mean something here, others there only. */
static int check_server(const struct run_options *options)
{
	bool is_remote = options->server.server != NULL;

	if (is_remote && (options->rootfs || options->is_host_unlimited || options->fail_stage))
		return refuse("--rootfs and --unlimited-host are for `cloche up`, "
			      "not for a run with --server");
	if (!is_remote && (options->session || options->server.token_file || options->server.state))
		return refuse(
			"%s is of a server: name it too, by --server unix:DIR/supervisor.sock "
			"or --server http://127.0.0.1:17600 (`cloche up` starts one)",
			options->session	     ? "--session"
			: options->server.token_file ? "--token-file"
						     : "--state");
	if (options->policy && !options->session)
		return refuse("--policy needs a --session, which goes on after this run");
	if ((options->is_live || options->is_reset) && !options->session)
		return refuse("--live and --reset need a --session, which goes on after this run");
	return 0;
}

bool run_options_is_remote(int argc, char *const argv[])
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (str_starts(str_from(argv[i]), STR("--server")))
			return true;
	return false;
}

static int check_all(struct run_options *options, const char *timeout)
{
	int r;

	if (options->out_dir[0] == '\0')
		return refuse("--out: the name is empty; leave it out for ./out");
	r = check_server(options);
	if (r == 0)
		r = check_profile(options);
	if (r == 0)
		r = check_timeout(options, timeout);
	if (r == 0)
		r = check_env(options);
	if (r == 0)
		r = check_args(options);
	return r;
}

int run_options_parse(int argc, char **argv, struct run_options *ret_options)
{
	const char *timeout = NULL;
	int what, r, words;

	*ret_options = (struct run_options){ .out_dir = "out" };
	words = take_args(ret_options, argc, argv);
	if (words < 0)
		return words;
	optind = 0; /* glibc: begin anew, getopt(3) */
	while ((what = getopt_long(words, argv, short_options, long_options, NULL)) >= 0) {
		if (what == 'h' || what == OPTION_HELP)
			return RUN_OPTIONS_HELP;
		r = set_option(ret_options, what, &timeout, argv);
		if (r < 0)
			return r;
	}
	r = take_script(ret_options, words, argv);
	return r < 0 ? r : check_all(ret_options, timeout);
}
