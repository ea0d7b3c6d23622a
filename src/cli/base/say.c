#include "cli/base/say.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "cli/base/exit.h"
#include "json/json.h"

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

int say_fault(const struct fault *fault)
{
	say("%s", fault->text);
	if (fault->code == FAULT_SANDBOX_UNAVAILABLE)
		say("%s", fault_advice(fault->code));
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

/* Bytes of the whole character at p, 0 if there is none. */
static size_t character_size(const char *p, size_t n)
{
	for (size_t size = 1; size <= 4 && size <= n; size++)
		if (utf8_is_valid(p, size))
			return size;
	return 0;
}

/* Characters that turn the direction of the text around them, are invisible, or end a line on some
 * terminals: U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F, U+FEFF, as UTF-8. */
static bool is_misleading(const unsigned char *p, size_t n)
{
	if (n != 3)
		return false;
	if (p[0] == 0xe2 && p[1] == 0x80)
		return (p[2] >= 0x8b && p[2] <= 0x8f) || (p[2] >= 0xa8 && p[2] <= 0xae);
	if (p[0] == 0xe2 && p[1] == 0x81)
		return p[2] >= 0xa0 && p[2] <= 0xaf;
	return p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf;
}

void say_name(struct buf *out, struct str name)
{
	while (name.n > 0) {
		unsigned char c = (unsigned char)name.p[0];
		size_t n = character_size(name.p, name.n);

		/* C1 controls are U+0080 .. U+009F, which is C2 80 .. C2 9F. */
		if (n == 0 || c < 0x20 || c == 0x7f ||
			(c == 0xc2 && (unsigned char)name.p[1] < 0xa0) ||
			is_misleading((const unsigned char *)name.p, n)) {
			(void)buf_addf(out, "\\x%02x", c);
			n = 1;
		} else {
			(void)buf_add(out, name.p, n);
		}
		name.p += n;
		name.n -= n;
	}
}
