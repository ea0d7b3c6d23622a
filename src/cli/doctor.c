/*
 * `cloche doctor`: the mechanisms are tried by `cloche-jaild --doctor`, which has the rights to; it
 * prints a line for each: name, "ok" or "fail", cause, remedy, with tabs between. What only the
 * client needs is looked at here. Its stderr is let through.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"
#include "cli/base/image_dir.h"
#include "cli/base/say.h"
#include "cli/base/system_files.h"
#include "cli/command.h"
#include "cli/up_state.h"
#include "jail/client/jaild.h"
#include "jail/client/program.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MAX (64u * 1024) /* bytes of jaild's lines: some dozens of 200 */
#define CHECKS_MAX 64

struct check {
	struct str name;
	bool is_ok;
	struct str cause;
	struct str remedy;
};

struct checks {
	struct check *list; /* of CHECKS_MAX */
	size_t n;
	size_t n_failed;
};

static void check_add(struct checks *checks, struct check check)
{
	if (checks->n == CHECKS_MAX)
		return;
	checks->list[checks->n++] = check;
	checks->n_failed += check.is_ok ? 0 : 1;
}

static void check_program(
	struct checks *checks, const char *name, const char *path, const char *package)
{
	bool is_ok = access(path, X_OK) == 0;

	check_add(checks, (struct check){ .name = str_from(name),
				  .is_ok = is_ok,
				  .cause = is_ok ? STR("") : STR("it is not installed"),
				  .remedy = is_ok ? STR("") : str_from(package) });
}

/* One line of jaild's. A malformed one is a failed check: nothing may look well by mistake. */
static struct check line_parse(struct str line)
{
	struct check check = { .is_ok = false };
	struct str state, rest;

	(void)str_split_once(line, '\t', &check.name, &rest);
	(void)str_split_once(rest, '\t', &state, &rest);
	(void)str_split_once(rest, '\t', &check.cause, &check.remedy);
	check.is_ok = str_eq(state, STR("ok"));
	return check;
}

/* Runs jaild's doctor; its lines go to out. Returns 0 or -errno. */
static int ask(struct buf *out)
{
	static const char *const argv[] = { "cloche-jaild", "--doctor", NULL };
	char program[PATH_MAX], chunk[4096];
	AUTO_CLOSE int ours = -1;
	int pair[2], r = jaild_find_program("cloche-jaild", program, sizeof(program));
	ssize_t n;
	pid_t pid = 0;

	if (r < 0)
		return r;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	ours = pair[0];
	r = program_start(
		&(struct program_request){
			.program = program, .argv = argv, .stdout_fd = pair[1], .socket_fd = -1 },
		&pid);
	(void)fd_close(pair[1]);
	if (r < 0)
		return r;
	while ((n = fd_read_full(ours, chunk, sizeof(chunk))) > 0)
		(void)buf_add(out, chunk, (size_t)n);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return out->len > 0 ? 0 : -EPROTO;
}

static const char *ask_error(int error)
{
	switch (error) {
	case -ENOENT:
		return "it is neither beside cloche nor in ../libexec/cloche";
	case -EPROTO:
		return "it said nothing";
	default:
		return strerror(-error);
	}
}

/* fault keeps the texts. */
static void check_supervisor(struct checks *checks, struct fault *fault)
{
	struct check check = { .name = STR("supervisor-id") };
	struct up_user user;

	check.is_ok = up_user_find(&user, fault) == 0;
	if (!check.is_ok)
		(void)str_split_once(str_from(fault->text), ':', &check.cause, &check.remedy);
	check.remedy = str_trim(check.remedy);
	check_add(checks, check);
}

static void checks_collect(
	struct checks *checks, struct buf *files, struct buf *answer, struct fault *fault)
{
	char path[PATH_MAX];
	struct str line, rest;
	bool has_init = jaild_find_program("cloche-init", path, sizeof(path)) == 0;
	AUTO_FREE struct system_files *seen = xcalloc(1, sizeof(*seen));
	int r = ask(answer);

	system_files_look(image_rootfs(NULL, path), seen);
	system_files_tell(seen, files);
	check_add(checks, (struct check){ .name = STR("system files"),
				  .is_ok = true,
				  .cause = buf_get_slice(files) });
	check_program(checks, "python", "/usr/bin/python3", "apt install python3");
	check_program(checks, "bash", "/bin/bash", "apt install bash");
	check_add(checks,
		(struct check){ .name = STR("cloche-init"),
			.is_ok = has_init,
			.cause = has_init ? STR("") : STR("it is not beside cloche"),
			.remedy = has_init ? STR("") : STR("make build, or make install") });
	check_supervisor(checks, fault);
	if (r < 0)
		check_add(checks, (struct check){ .name = STR("cloche-jaild"),
					  .cause = str_from(ask_error(r)),
					  .remedy = STR("make build, or make install") });
	rest = buf_get_slice(answer);
	while (rest.n > 0) {
		(void)str_split_once(rest, '\n', &line, &rest);
		if (line.n > 0)
			check_add(checks, line_parse(line));
	}
}

static void print_text(const struct checks *checks)
{
	for (size_t i = 0; i < checks->n; i++) {
		const struct check *check = &checks->list[i];

		if (check->is_ok) {
			bool has_note = check->cause.n > 0;

			(void)printf("ok    %.*s%s%.*s%s\n", STR_ARG(check->name),
				has_note ? " (" : "", STR_ARG(check->cause), has_note ? ")" : "");
			continue;
		}
		(void)printf("FAIL  %.*s\n", STR_ARG(check->name));
		(void)printf("      cause:  %.*s\n", STR_ARG(check->cause));
		(void)printf("      remedy: %.*s\n", STR_ARG(check->remedy));
	}
	if (checks->n_failed == 0)
		(void)printf("All %zu checks are well.\n", checks->n);
	else
		(void)printf("%zu of %zu checks failed.\n", checks->n_failed, checks->n);
}

static int print_json(const struct checks *checks)
{
	AUTO_JSON struct json *object = json_object_new();
	struct json *list = json_set_array(object, "checks");

	for (size_t i = 0; i < checks->n; i++) {
		const struct check *check = &checks->list[i];
		struct json *row = json_add_object(list);

		json_set_text(row, "name", check->name);
		json_set_bool(row, "ok", check->is_ok);
		json_set_text(row, "cause", check->cause);
		json_set_text(row, "remedy", check->remedy);
	}
	return say_json(object);
}

int cli_doctor(int argc, char **argv)
{
	AUTO_BUF struct buf answer = BUF_INIT(ANSWER_MAX), files = BUF_INIT(4 * PATH_MAX);
	AUTO_FREE struct check *list = xcalloc(CHECKS_MAX, sizeof(*list));
	struct checks checks = { .list = list };
	struct fault fault;
	bool is_json = argc == 2 && strcmp(argv[1], "--json") == 0;
	int status = 0;

	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		(void)fputs(command_find("doctor")->usage, stdout);
		return 0;
	}
	if (argc > 1 && !is_json)
		return say_usage("there is no '%s' here; see `cloche doctor --help`", argv[1]);
	checks_collect(&checks, &files, &answer, &fault);
	if (is_json)
		status = print_json(&checks);
	else
		print_text(&checks);
	return status != 0 ? status : checks.n_failed > 0;
}
