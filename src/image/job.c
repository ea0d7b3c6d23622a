/*
 * Theory of operation: every program of a step writes into one log. What a person needs of it when
 * the program fails are the lines in which it says so itself: those that begin as apt's and pip's
 * errors do.
 */
#include "image/job.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_TAIL_MAX   (64 * 1024) /* of what the program said */
#define LINES_SHOWN    4
#define LINE_SHOWN_MAX 160 /* bytes */

int job_path(char ret_path[PATH_MAX], const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(ret_path, PATH_MAX, format, ap);
	va_end(ap);
	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

void job_tell(const struct image_job *job, const char *format, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	job->options->tell(line);
}

void job_step(struct image_job *job, const char *format, ...)
{
	char line[384];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	job_tell(job, "%u/%d %3llu s  %s", ++job->step, JOB_STEPS,
		(unsigned long long)((clock_now_us() - job->started_us) / USEC_PER_S), line);
}

int job_refuse(const struct image_job *job, const char *remedy, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(job->trouble->what, sizeof(job->trouble->what), format, ap);
	va_end(ap);
	(void)str_copy(job->trouble->remedy, sizeof(job->trouble->remedy), remedy);
	return -EIO;
}

static bool is_error_line(struct str line)
{
	return str_starts(line, STR("E: ")) || str_starts(line, STR("ERROR: ")) ||
	       str_starts(line, STR("error: ")) || str_starts(line, STR("dpkg: error")) ||
	       str_ends(line, STR("No space left on device")) || str_starts(line, STR("  cause: "));
}

/* Appends the program's own words: its last error lines, or else its last line. */
static void words_find(struct str text, struct buf *out)
{
	struct str line, shown[LINES_SHOWN], last = { 0 };
	size_t n = 0;

	while (text.n > 0) {
		if (!str_split_once(text, '\n', &line, &text))
			text = STR("");
		line = str_trim(line);
		line.n = MIN(line.n, (size_t)LINE_SHOWN_MAX);
		if (line.n > 0)
			last = line;
		if (!is_error_line(line))
			continue;
		if (n == LINES_SHOWN) {
			memmove(shown, shown + 1, sizeof(shown) - sizeof(shown[0]));
			n--;
		}
		shown[n++] = line;
	}
	if (n == 0 && last.n > 0)
		shown[n++] = last;
	for (size_t i = 0; i < n; i++) {
		char words[LINE_SHOWN_MAX + 1];

		(void)str_format(words, sizeof(words), "%.*s", STR_ARG(shown[i]));
		utf8_clean(words); /* packages' code has its say too */
		(void)buf_addf(out, "\n  %s", words);
	}
}

static int program_refuse(const struct image_job *job, const char *what, int status, off_t from)
{
	AUTO_BUF struct buf text = BUF_INIT(LOG_TAIL_MAX);
	AUTO_BUF struct buf words = BUF_INIT(2048);
	off_t end = lseek(job->log_fd, 0, SEEK_END);
	char piece[4096];
	ssize_t n;

	from = MAX(from, end - LOG_TAIL_MAX);
	while ((n = pread(job->log_fd, piece, sizeof(piece), from)) > 0) {
		if (buf_add(&text, piece, (size_t)n) < 0)
			break;
		from += n;
	}
	words_find(buf_get_slice(&text), &words);
	(void)job_refuse(job, "", "%s failed (status %d):%s", what, status, buf_get_cstr(&words));
	(void)str_format(job->trouble->remedy, sizeof(job->trouble->remedy), "All it said: %s",
		job->log_path);
	return -EIO;
}

static int run(const struct image_job *job, const struct tool *tool, struct buf *ret_out)
{
	struct tool full = *tool;
	int r;

	full.log_fd = job->log_fd;
	full.tmp_dir = job->work;
	r = tool_run(&full, ret_out);
	if (r == -ENOENT)
		return job_refuse(job,
			"Install it: apt-get install mmdebstrap python3-pip (and apt, dpkg, "
			"util-linux, coreutils, which Debian has).",
			"There is no program %s here.", tool->argv[0]);
	if (r < 0)
		return job_refuse(job, "", "%s cannot be run: %s.", tool->argv[0], strerror(-r));
	return r;
}

static int run_said(
	const struct image_job *job, const char *what, const struct tool *tool, struct buf *ret_out)
{
	off_t from = lseek(job->log_fd, 0, SEEK_END);
	int r = run(job, tool, ret_out);

	return r > 0 ? program_refuse(job, what, r, from) : r;
}

int job_run(
	const struct image_job *job, const char *what, const char *const *argv, struct buf *ret_out)
{
	const struct tool tool = { .argv = argv, .out_fd = -1 };

	return run_said(job, what, &tool, ret_out);
}

int job_try(const struct image_job *job, const char *const *argv, struct buf *ret_out)
{
	const struct tool tool = { .argv = argv, .out_fd = -1 };

	return run(job, &tool, ret_out);
}

int job_run_with(const struct image_job *job, const char *what, const char *const *argv,
	const char *variable)
{
	const struct tool tool = { .argv = argv, .out_fd = -1, .variable = variable };

	return run_said(job, what, &tool, NULL);
}

int job_run_in(
	const struct image_job *job, const char *what, const char *const *argv, const char *dir)
{
	const struct tool tool = { .argv = argv, .out_fd = -1, .dir = dir };

	return run_said(job, what, &tool, NULL);
}

static int file_open(const struct image_job *job, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);

	return fd < 0 ? job_refuse(job, "", "%s: %s.", path, strerror(errno)) : fd;
}

int job_run_into(
	const struct image_job *job, const char *what, const char *const *argv, const char *name)
{
	AUTO_CLOSE int fd = -1;
	struct tool tool = { .argv = argv };
	char path[PATH_MAX];

	if (job_path(path, "%s/%s", job->tree, name) < 0)
		return job_refuse(job, "", "%s: the name is too long.", name);
	fd = file_open(job, path);
	if (fd < 0)
		return fd;
	tool.out_fd = fd;
	return run_said(job, what, &tool, NULL);
}

int job_write(const struct image_job *job, const char *path, struct str text)
{
	AUTO_CLOSE int fd = file_open(job, path);
	int r;

	if (fd < 0)
		return fd;
	r = fd_write_full(fd, text.p, text.n);
	return r < 0 ? job_refuse(job, "", "%s: %s.", path, strerror(-r)) : 0;
}

int job_mkdir(const struct image_job *job, const char *path)
{
	char part[PATH_MAX];

	if (str_copy(part, sizeof(part), path) < 0)
		return job_refuse(job, "", "%s: the name is too long.", path);
	for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return job_refuse(
				job, "Name another folder.", "%s: %s.", part, strerror(errno));
		if (!slash)
			return 0;
		*slash = '/';
	}
}
