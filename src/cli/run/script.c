#include "cli/run/script.h"

#include "base/fd.h"
#include "cli/base/say.h"
#include "cli/run/run_options.h"
#include "sandbox/human.h"
#include "sandbox/language.h"
#include "sandbox/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads fd to its first end into out, whose maximum is what may come: a terminal would give more
 * after it. Returns 0, -ENOBUFS for more, or -errno. */
static int read_all(int fd, struct buf *out)
{
	char chunk[8192];

	for (;;) {
		ssize_t n = fd_read_full(fd, chunk, sizeof(chunk));
		int r;

		if (n < 0)
			return (int)n;
		r = buf_add(out, chunk, (size_t)n);
		if (r < 0 || (size_t)n < sizeof(chunk))
			return r;
	}
}

/* Opens the file, or duplicates our stdin for "-". */
static int source_open(const char *path)
{
	int fd = strcmp(path, "-") == 0 ? fd_dup_above(STDIN_FILENO, 0)
					: open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd == -1 ? -errno : fd;
}

/* Reads a source for what (an option or "the script"); remedy ends the line when it is too long. */
static int source_read(const char *what, const char *path, struct buf *out, const char *remedy)
{
	AUTO_CLOSE int fd = source_open(path);
	AUTO_BUF struct buf limit = BUF_INIT(32);
	int r = fd;

	if (fd >= 0 && strcmp(path, "-") == 0 && isatty(fd) == 1)
		say("reading %s from the terminal; end with Ctrl-D", what);
	if (fd >= 0)
		r = read_all(fd, out);
	if (r == 0)
		return 0;
	if (r == -EISDIR)
		return say_usage("%s: %s is a folder; name a file", what, path);
	if (r != -ENOBUFS)
		return say_unreadable(what, path, -r);
	human_bytes(&limit, out->max);
	return say_usage("%s: %s has more than %s; %s", what, path, buf_get_cstr(&limit), remedy);
}

/* By the option, else by name or first line; what comes from a pipe unnamed is Python. */
static int language_find(const struct run_options *options, struct str code, struct script *script)
{
	bool is_stdin = strcmp(options->script, "-") == 0;
	struct str name = is_stdin ? STR("") : str_from(options->script);

	if (options->has_language) {
		script->language = options->language;
		return 0;
	}
	if (language_guess(name, code, &script->language) == 0)
		return 0;
	if (is_stdin) {
		script->language = PACKAGE_PYTHON;
		return 0;
	}
	return say_usage("%s: neither its name (.py, .sh, .bash) nor its first line tells the "
			 "language; add --language python or --language bash",
		options->script);
}

int script_load(const struct run_options *options, struct script *ret_script)
{
	AUTO_BUF struct buf code = BUF_INIT(PACKAGE_CODE_MAX);
	int status;

	*ret_script = (struct script){ .has_input = options->stdin_path != NULL };
	buf_init(&ret_script->code, PACKAGE_CODE_MAX);
	buf_init(&ret_script->input, RUN_STDIN_MAX);
	status = source_read("the script", options->script, &code,
		"put its data into a file and add it with --file");
	if (status == 0)
		status = language_find(options, buf_get_slice(&code), ret_script);
	if (status == 0)
		(void)language_normalise(
			ret_script->language, buf_get_slice(&code), &ret_script->code);
	if (status == 0 && ret_script->has_input)
		status = source_read("--stdin", options->stdin_path, &ret_script->input,
			"add it with --file and open it in the script");
	return status;
}

void script_fini(struct script *script)
{
	buf_fini(&script->code);
	buf_fini(&script->input);
}
