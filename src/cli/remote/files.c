/* `cloche files`: what lies in the home of a session of a supervisor. */
#include "client/files.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/macro.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"
#include "cli/base/server.h"
#include "cli/remote/remote.h"
#include "jail/files/snapshot.h"
#include "sandbox/human.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file name with each byte escaped. */
#define NAME_SHOWN_MAX ((size_t)4 * 4096 + 1)

struct files {
	struct server_command command;
	struct sandbox *sandbox;
	const char *out; /* --out, or NULL */
	const char *profile, *policy;
	char **words; /* behind the verb */
	struct sandbox_trouble trouble;
};

/* name: the session or file that it is about. */
static int fail(const struct files *files, const char *name, int r)
{
	return server_trouble_say(name, r, &files->trouble, files->command.options.is_json);
}

static void done_say(const struct files *files, const char *what, const char *path)
{
	AUTO_BUF struct buf shown = BUF_INIT(NAME_SHOWN_MAX);

	say_name(&shown, str_from(path));
	say_done(files->command.options.is_json, "%s %s", what, buf_get_cstr(&shown));
}

static int malformed_say(const struct files *files)
{
	say("%s: the list of files is malformed", sandbox_server_get(files->sandbox));
	return EXIT_OURS;
}

static int row_print(const struct files *files, const struct json *row)
{
	AUTO_BUF struct buf name = BUF_INIT(NAME_SHOWN_MAX), size = BUF_INIT(64),
			    when = BUF_INIT(128);
	struct sandbox_path path;
	struct str mtime = STR("-");
	int64_t bytes;

	if (sandbox_path_read(row, &path) < 0 ||
		json_as_integer(json_get(row, "size"), &bytes) < 0 || bytes < 0)
		return malformed_say(files);
	(void)json_as_text(json_get(row, "mtime"), &mtime);
	say_name(&name, (struct str){ path.bytes, path.n });
	say_name(&when, (struct str){ mtime.p, MIN(mtime.n, (size_t)24) });
	human_bytes(&size, (uint64_t)bytes);
	(void)printf(
		"%10s  %-24s  %s\n", buf_get_cstr(&size), buf_get_cstr(&when), buf_get_cstr(&name));
	return 0;
}

/* Prints a page and finds where the next begins; .n 0 at the end. */
static int page_print(const struct files *files, const struct json *page, struct str *ret_next)
{
	const struct json *rows = json_get(page, "files");
	bool is_truncated = false;
	int status = 0;

	*ret_next = (struct str){ NULL, 0 };
	(void)json_as_text(json_get(page, "next"), ret_next);
	if (files->command.options.is_json)
		return say_json(page);
	for (size_t i = 0; i < json_size(rows) && status == 0; i++)
		status = row_print(files, json_at(rows, i));
	if (ret_next->n == 0 && json_as_bool(json_get(page, "truncated"), &is_truncated) == 0 &&
		is_truncated)
		say("there are more files than a list takes");
	return status;
}

/* The path that the next page begins after, which may be no UTF-8: that of this page's last row,
 * which must be behind ret_path's own: no server may make us ask for ever. */
static int last_path(const struct json *page, struct sandbox_path *ret_path)
{
	const struct sandbox_path before = *ret_path;
	const struct json *rows = json_get(page, "files");
	size_t n = json_size(rows);

	if (n == 0 || sandbox_path_read(json_at(rows, n - 1), ret_path) < 0)
		return -EBADMSG;
	return snapshot_compare((struct str){ ret_path->bytes, ret_path->n },
		       (struct str){ before.bytes, before.n }) > 0
		       ? 0
		       : -EBADMSG;
}

static int list(struct files *files)
{
	struct sandbox_path after = { .n = 0 };
	bool has_more, is_any = false;
	int status = 0;

	do {
		AUTO_JSON struct json *page = NULL;
		struct str next;
		int r = sandbox_files(files->sandbox, files->words[0],
			(struct str){ after.bytes, after.n }, &page, &files->trouble);

		if (r < 0)
			return fail(files, files->words[0], r);
		is_any = is_any || json_size(json_get(page, "files")) > 0;
		status = page_print(files, page, &next);
		has_more = status == 0 && next.n > 0;
		if (has_more && last_path(page, &after) < 0)
			return malformed_say(files);
	} while (has_more);
	if (status == 0 && !is_any)
		say_done(files->command.options.is_json, "the session has no files");
	return status;
}

/* Where a download goes: --out, or the path's last part here. Returns a descriptor, or -1 after
 * saying why not. Nothing is overwritten. */
static int out_open(const struct files *files, char **ret_name)
{
	const char *slash = strrchr(files->words[1], '/');
	const char *name = files->out ? files->out : slash ? slash + 1 : files->words[1];
	int fd;

	if (strcmp(name, "-") == 0)
		return fd_dup_above(STDOUT_FILENO, 0);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
	if (fd < 0) {
		(void)say_usage("%s: %s; name another file with --out", name, strerror(errno));
		return -1;
	}
	*ret_name = xstrdup(name);
	return fd;
}

static int get(struct files *files)
{
	AUTO_FREE char *name = NULL;
	AUTO_CLOSE int fd = out_open(files, &name);
	int r;

	if (fd < 0)
		return EXIT_USAGE;
	r = sandbox_file_get(
		files->sandbox, files->words[0], str_from(files->words[1]), fd, &files->trouble);
	if (r < 0 && name)
		(void)unlink(name);
	if (r < 0)
		return fail(files, files->words[1], r);
	if (name)
		done_say(files, "wrote", name);
	return 0;
}

static int put(struct files *files)
{
	const char *from = files->words[1];
	const char *slash = strrchr(from, '/');
	const char *to = files->words[2] ? files->words[2] : slash ? slash + 1 : from;
	/* O_NONBLOCK: a FIFO must be refused, not waited for. */
	AUTO_CLOSE int fd = open(from, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct sandbox_put request = { .key = files->words[0],
		.path = str_from(to),
		.profile = files->profile,
		.policy = files->policy,
		.fd = fd };
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return say_unreadable("", from, errno);
	if (!S_ISREG(st.st_mode))
		return say_usage("%s: is no regular file; pack a folder with tar", from);
	request.size_bytes = (uint64_t)st.st_size;
	request.is_executable = (st.st_mode & 0111) != 0;
	r = sandbox_file_put(files->sandbox, &request, &files->trouble);
	if (r < 0)
		return fail(files, to, r);
	done_say(files, "stored", to);
	return 0;
}

static int rm(struct files *files)
{
	int status = 0;

	for (char **path = files->words + 1; *path; path++) {
		int r = sandbox_file_remove(
			files->sandbox, files->words[0], str_from(*path), &files->trouble);

		if (r < 0)
			status = fail(files, *path, r);
		else
			done_say(files, "removed", *path);
	}
	return status;
}

static const struct verb {
	const char *name, *words;
	unsigned min, max; /* words */
	int (*run)(struct files *files);
} verbs[] = {
	{ "ls", "KEY", 1, 1, list },
	{ "get", "KEY PATH", 2, 2, get },
	{ "put", "KEY FILE [PATH]", 2, 3, put },
	{ "rm", "KEY PATH...", 2, UINT32_MAX, rm },
};

static int on_option(struct server_command *command, int option, const char *value)
{
	struct files *files = container_of(command, struct files, command);

	if (option == 'o')
		files->out = value;
	else if (option == 'y')
		files->policy = value;
	else
		files->profile = value;
	return 0;
}

/* Finds the verb; says what is wrong when it is none, or its words are too few or many. */
static const struct verb *verb_find(char **words)
{
	unsigned n = 0;

	if (!words[0]) {
		(void)say_usage("say what: cloche files ls, get, put or rm");
		return NULL;
	}
	while (words[1 + n])
		n++;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(words[0], verbs[i].name) != 0)
			continue;
		if (n >= verbs[i].min && n <= verbs[i].max)
			return &verbs[i];
		(void)say_usage("write: cloche files %s %s", verbs[i].name, verbs[i].words);
		return NULL;
	}
	(void)say_usage("there is no '%s' here; say ls, get, put or rm", words[0]);
	return NULL;
}

int cli_files(int argc, char **argv)
{
	struct files files = {
		.command = { .name = "files", .more = "o:p:y:", .on_option = on_option }
	};
	const struct verb *verb;
	int status = server_command_parse(&files.command, argc, argv);

	if (status != 0)
		return status;
	if (files.command.options.is_help)
		return EXIT_HELP;
	verb = verb_find(argv + files.command.first);
	if (!verb)
		return EXIT_USAGE;
	files.words = argv + files.command.first + 1;
	status = server_open(&files.command.options, &files.sandbox);
	if (status == 0)
		status = verb->run(&files);
	sandbox_free(files.sandbox);
	return status;
}
