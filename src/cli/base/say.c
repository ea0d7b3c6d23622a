#include "cli/base/say.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "cli/base/exit.h"
#include "json/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048 /* a path of PATH_MAX is cut: the words around it matter more */

__attribute__((format(printf, 1, 0))) static void line_write(const char *format, va_list ap)
{
	char line[LINE_MAX_BYTES] = "cloche: ";
	size_t start = strlen(line);
	int n = vsnprintf(line + start, sizeof(line) - start - 1, format, ap);
	size_t length = start + (n < 0 ? 0 : (size_t)n);

	if (length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	(void)fd_write_full(STDERR_FILENO, line, length);
}

void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	line_write(format, ap);
	va_end(ap);
}

int say_usage(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	line_write(format, ap);
	va_end(ap);
	return EXIT_USAGE;
}

int say_unreadable(const char *what, const char *path, int error)
{
	const char *remedy = "name another one";

	if (error == ENOENT || error == ENOTDIR)
		remedy = "check its name; what does not begin with / is looked for in the current "
			 "folder";
	else if (error == EACCES || error == EPERM)
		remedy = "`ls -l` shows who may read it";
	return say_usage("%s%s%s cannot be read: %s; %s", what, what[0] ? ": " : "", path,
		strerror(error), remedy);
}

void say_done(bool is_json, const char *format, ...)
{
	va_list ap;

	if (is_json || isatty(STDERR_FILENO) != 1)
		return;
	va_start(ap, format);
	line_write(format, ap);
	va_end(ap);
}

int say_fault(const struct fault *fault)
{
	say("%s", fault->text);
	if (fault->code == FAULT_SANDBOX_UNAVAILABLE)
		say("%s", fault_advice(fault));
	return EXIT_OURS;
}

int say_json(const struct json *j)
{
	/* Two streams of 768 KiB at worst, each byte escaped as \u00XX, and a list of files. */
	AUTO_BUF struct buf out = BUF_INIT(64u << 20);
	int r = json_write(j, &out);

	if (r == 0)
		r = buf_add_char(&out, '\n');
	if (r == 0)
		r = fd_write_full(STDOUT_FILENO, out.data, out.len);
	if (r < 0) {
		say("the answer could not be written to stdout: %s", strerror(-r));
		return EXIT_OURS;
	}
	return 0;
}

void say_name(struct buf *out, struct str name)
{
	while (name.n > 0) {
		size_t n = utf8_shown(name.p, name.n);

		if (n == 0) {
			(void)buf_addf(out, "\\x%02x", (unsigned char)name.p[0]);
			n = 1;
		} else {
			(void)buf_add(out, name.p, n);
		}
		name.p += n;
		name.n -= n;
	}
}
