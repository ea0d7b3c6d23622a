/*
 * `cloche token`: who may use the service of a state directory.
 *
 * Theory of operation: the file DIR/tokens holds hashes (token/token.h); the token itself is
 * printed once and kept nowhere. The file is written anew under another name and renamed, so that a
 * service that runs (it watches the folder) reads it whole; lines that are not ours to change,
 * comments too, stay as they are. Two of us at once wait for each other by a lock on the folder.
 */
#include "token/token.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/macro.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "cli/base/state_dir.h"
#include "cli/remote/remote.h"
#include "crypt/secret.h"
#include "sandbox/profile.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_NEW "tokens.new"

enum option_id {
	OPTION_STATE = 256, /* above every letter */
	OPTION_TENANT,
	OPTION_SCOPE,
	OPTION_PROFILES,
	OPTION_POLICY,
	OPTION_JSON,
	OPTION_HELP,
};

static const struct option long_options[] = {
	{ "state", required_argument, NULL, OPTION_STATE },
	{ "tenant", required_argument, NULL, OPTION_TENANT },
	{ "scope", required_argument, NULL, OPTION_SCOPE },
	{ "profiles", required_argument, NULL, OPTION_PROFILES },
	{ "policy", required_argument, NULL, OPTION_POLICY },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

struct job {
	const char *state;  /* --state, or NULL */
	struct token token; /* as add is to make it */
	bool has_tenant, is_json, is_help;
	char **words;
	int dir_fd;
	char path[PATH_MAX]; /* of the folder */
	struct buf text;     /* of the file */
	struct tokens tokens;
};

/* The lines of the file that may stay or go: tells the hash's digits from comments. */
static bool line_is(struct str line, const char *id)
{
	return strlen(id) == TOKEN_ID_LEN && str_starts(line, str_from(id));
}

/* A name that no profile has would make a token that nothing can be asked with. */
static int profiles_take(struct token *token, const char *names)
{
	if (token_set_profiles(token, str_from(names)) < 0)
		return say_usage(
			"--profiles %.64s: names with commas, such as strict,roomy", names);
	for (size_t i = 0; i < token->n_profiles; i++) {
		struct wire_limits limits;
		struct fault fault;

		if (profile_get(token->profiles[i], &limits, &fault) < 0)
			return say_usage("--profiles: %s", fault.text);
	}
	return 0;
}

static int option_take(struct job *job, int what, char **argv)
{
	switch (what) {
	case OPTION_STATE:
		job->state = optarg;
		return 0;
	case OPTION_TENANT:
		job->has_tenant = true;
		if (token_set_tenant(&job->token, str_from(optarg)) < 0)
			return say_usage("--tenant: a name is 1 to 64 of A-Z a-z 0-9 . _ : -");
		return 0;
	case OPTION_SCOPE:
		if (token_set_scopes(&job->token, str_from(optarg)) < 0)
			return say_usage("--scope %.64s: say run, admin, or run,admin", optarg);
		return 0;
	case OPTION_PROFILES:
		return profiles_take(&job->token, optarg);
	case OPTION_POLICY:
		job->token.is_kept = strcmp(optarg, "kept") == 0;
		if (!job->token.is_kept && strcmp(optarg, "ephemeral") != 0)
			return say_usage("--policy %.64s: say kept or ephemeral", optarg);
		return 0;
	case OPTION_JSON:
		job->is_json = true;
		return 0;
	case 'h':
	case OPTION_HELP:
		job->is_help = true;
		return 0;
	default:
		return say_usage("%s: no such option, or its value is missing; see "
				 "`cloche token --help`",
			argv[optind - 1]);
	}
}

static int options_read(struct job *job, int argc, char **argv)
{
	int what, status = 0;

	optind = 0; /* glibc: begin anew, getopt(3) */
	while (status == 0 && (what = getopt_long(argc, argv, ":h", long_options, NULL)) != -1)
		status = option_take(job, what, argv);
	job->words = argv + optind;
	return status;
}

/* Opens and locks the folder, and reads the file. Returns 0 or an exit status. */
static int state_open(struct job *job)
{
	char *path = job->path;
	struct fault fault;
	struct stat st;
	int r = 0;

	if (job->state ? str_copy(path, sizeof(job->path), job->state) < 0
		       : state_dir_default(path) < 0)
		return say_usage("--state: name the folder of `cloche up`");
	job->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (job->dir_fd < 0 || fstat(job->dir_fd, &st) < 0)
		return say_usage("%s: %s; name the folder of `cloche up` with --state", path,
			strerror(errno));
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return say_usage("%s: not yours alone to write; `cloche up` would refuse it", path);
	if (flock(job->dir_fd, LOCK_EX) < 0)
		r = -errno;
	if (r == 0)
		r = buf_add_file(&job->text, job->dir_fd, "tokens");
	if (r < 0 && r != -ENOENT) {
		say("%s/tokens: %s", path, strerror(-r));
		return EXIT_OURS;
	}
	if (tokens_parse(buf_get_slice(&job->text), &job->tokens, &fault) == 0)
		return 0;
	say("%s/tokens: %s; mend or remove that line", path, fault.text);
	return EXIT_OURS;
}

/* Puts the file's new text in its place. Returns 0 or an exit status. */
static int file_replace(const struct job *job, const struct buf *text)
{
	AUTO_CLOSE int fd = -1;
	int r = 0;

	(void)unlinkat(job->dir_fd, FILE_NEW, 0);
	fd = openat(job->dir_fd, FILE_NEW, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		r = -errno;
	if (r == 0)
		r = fd_write_full(fd, buf_get_cstr(text), text->len);
	if (r == 0 &&
		(fsync(fd) < 0 || renameat(job->dir_fd, FILE_NEW, job->dir_fd, "tokens") < 0 ||
			fsync(job->dir_fd) < 0))
		r = -errno;
	if (r == 0)
		return 0;
	say("the tokens cannot be written: %s", strerror(-r));
	return EXIT_OURS;
}

static void scopes_format(const struct token *token, char text[16])
{
	(void)str_format(text, 16, "%s%s%s", token->scopes & TOKEN_SCOPE_RUN ? "run" : "",
		token->scopes == (TOKEN_SCOPE_RUN | TOKEN_SCOPE_ADMIN) ? "," : "",
		token->scopes & TOKEN_SCOPE_ADMIN ? "admin" : "");
}

static void profiles_format(const struct token *token, struct buf *out)
{
	if (token->n_profiles == 0)
		(void)buf_add_char(out, '*');
	for (size_t i = 0; i < token->n_profiles; i++)
		(void)buf_addf(out, "%s%s", i > 0 ? "," : "", token->profiles[i]);
}

static void id_format(const struct token *token, char id[TOKEN_ID_LEN + 1])
{
	char digits[HASH_TEXT_SIZE];

	hash_format(&token->hash, digits);
	digits[TOKEN_ID_LEN] = '\0';
	(void)str_copy(id, TOKEN_ID_LEN + 1, digits);
}

static void row_fill(struct json *row, const struct token *token)
{
	AUTO_BUF struct buf profiles = BUF_INIT(512);
	char id[TOKEN_ID_LEN + 1], scopes[16];

	id_format(token, id);
	scopes_format(token, scopes);
	profiles_format(token, &profiles);
	json_set_cstr(row, "id", id);
	json_set_cstr(row, "tenant", token->tenant);
	json_set_cstr(row, "scope", scopes);
	json_set_cstr(row, "profiles", buf_get_cstr(&profiles));
	json_set_cstr(row, "policy", token->is_kept ? "kept" : "ephemeral");
	json_set_count(row, "created_unix", token->created_unix);
}

static int add(struct job *job)
{
	AUTO_BUF struct buf text = BUF_INIT(TOKENS_FILE_MAX);
	AUTO_JSON struct json *row = json_object_new();
	char secret[SECRET_LEN + 1], id[TOKEN_ID_LEN + 1];
	int status;

	if (!job->has_tenant)
		return say_usage("whose? say --tenant NAME");
	if (job->tokens.n == TOKENS_MAX)
		return say_usage("there are %d tokens, which is the most; remove some", TOKENS_MAX);
	secret_make(secret);
	job->token.hash = hash_make(str_from(secret));
	job->token.created_unix = (uint64_t)time(NULL);
	(void)buf_add_slice(&text, buf_get_slice(&job->text));
	if (text.len > 0 && text.data[text.len - 1] != '\n')
		(void)buf_add_char(&text, '\n');
	if (token_format(&job->token, &text) < 0)
		return say_usage("the file of tokens is full; remove some");
	status = file_replace(job, &text);
	if (status != 0)
		return status;
	id_format(&job->token, id);
	if (job->is_json) {
		json_set_cstr(row, "token", secret);
		row_fill(row, &job->token);
		return say_json(row);
	}
	(void)printf("%s\n", secret);
	say("the token %s of tenant %s: keep it, it is shown this once", id, job->token.tenant);
	return 0;
}

#define ROW "%-12s  %-10s  %-9s  %-24s  %-9s  %s\n"

/* The token that the service has made for itself is in no list, and yet it holds. */
static void own_say(const struct job *job)
{
	struct stat st;

	if (fstatat(job->dir_fd, "token", &st, AT_SYMLINK_NOFOLLOW) == 0)
		say("%sthe token in the file %s/token holds%s: `cloche up` made it, for tenant "
		    "default",
			job->tokens.n > 0 ? "" : "none was added; ", job->path,
			job->tokens.n > 0 ? " too" : "");
	else if (job->tokens.n == 0)
		say("none was added; `cloche token add --tenant NAME` makes one");
}

static int ls(struct job *job)
{
	AUTO_JSON struct json *object = json_object_new();
	struct json *rows = json_set_array(object, "tokens");

	if (!job->is_json && job->tokens.n > 0)
		(void)printf(ROW, "ID", "CREATED", "SCOPE", "TENANT", "POLICY", "PROFILES");
	for (size_t i = 0; i < job->tokens.n; i++) {
		const struct token *token = &job->tokens.items[i];
		AUTO_BUF struct buf profiles = BUF_INIT(512);
		char id[TOKEN_ID_LEN + 1], scopes[16], day[16] = "-";
		time_t created = (time_t)token->created_unix;
		struct tm tm;

		row_fill(json_add_object(rows), token);
		if (job->is_json)
			continue;
		id_format(token, id);
		scopes_format(token, scopes);
		profiles_format(token, &profiles);
		if (gmtime_r(&created, &tm))
			(void)strftime(day, sizeof(day), "%Y-%m-%d", &tm);
		(void)printf(ROW, id, day, scopes, token->tenant,
			token->is_kept ? "kept" : "ephemeral", buf_get_cstr(&profiles));
	}
	if (job->is_json)
		return say_json(object);
	own_say(job);
	return 0;
}

/* Copies the lines but for that of the token. Returns how many were left out. */
static unsigned lines_copy(const struct job *job, const char *id, struct buf *out)
{
	struct str left = buf_get_slice(&job->text), line;
	unsigned n = 0;

	while (left.n > 0) {
		(void)str_split_once(left, '\n', &line, &left);
		if (line_is(str_trim(line), id)) {
			n++;
			continue;
		}
		(void)buf_add_slice(out, line);
		(void)buf_add_char(out, '\n');
	}
	return n;
}

static int rm(struct job *job)
{
	if (!job->words[1])
		return say_usage("which token? `cloche token ls` lists their ids");
	for (char **id = job->words + 1; *id; id++) {
		AUTO_BUF struct buf text = BUF_INIT(TOKENS_FILE_MAX + 1);
		int status;

		if (lines_copy(job, *id, &text) == 0)
			return say_usage(
				"there is no token %.64s; `cloche token ls` lists them", *id);
		status = file_replace(job, &text);
		if (status != 0)
			return status;
		buf_clear(&job->text);
		(void)buf_add_slice(&job->text, buf_get_slice(&text));
		say_done(job->is_json, "removed the token %s", *id);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct job *job);
} verbs[] = { { "add", add }, { "ls", ls }, { "rm", rm } };

static int verb_run(struct job *job)
{
	const char *word = job->words[0];
	int status;

	for (size_t i = 0; word && i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(word, verbs[i].name) != 0)
			continue;
		if (verbs[i].run != rm && job->words[1])
			return say_usage("token %s takes no '%s'", word, job->words[1]);
		status = state_open(job);
		return status == 0 ? verbs[i].run(job) : status;
	}
	return say_usage("say what: cloche token add, ls or rm");
}

int cli_token(int argc, char **argv)
{
	struct job job = { .dir_fd = -1, .token = { .scopes = TOKEN_SCOPE_RUN } };
	int status = options_read(&job, argc, argv);

	if (status != 0)
		return status;
	if (job.is_help)
		return EXIT_HELP;
	buf_init(&job.text, TOKENS_FILE_MAX);
	status = verb_run(&job);
	(void)fd_close(job.dir_fd);
	free(job.tokens.items);
	buf_fini(&job.text);
	return status;
}
