/*
 * Theory of operation: a line is built on the stack and written with one write(2), so that lines of
 * threads and processes that share stderr do not mix and nothing is allocated. What a stranger put
 * into a value cannot make a second line: control characters never leave here as they are.
 */
#include "base/log.h"

#include "base/assert.h"
#include "base/str.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum log_level log_level = LOG_LEVEL_INFO;

static const char *const names[LOG_LEVEL_MAX] = { "error", "warning", "info", "debug" };

static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool is_dropping;
static atomic_uint dropped;

void log_drop_when_full(void)
{
	is_dropping = true;
}

static bool has_room(void)
{
	struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };

	return !is_dropping || (poll(&room, 1, 0) > 0 && (room.revents & POLLOUT));
}

/* If stderr is gone there is nobody to tell. */
static void line_write(const char *line, size_t len)
{
	char told[64];
	unsigned n;
	int told_len;

	if (!has_room() || (write(STDERR_FILENO, line, len) < 0 && errno == EAGAIN)) {
		(void)atomic_fetch_add(&dropped, 1);
		return;
	}
	n = atomic_exchange(&dropped, 0);
	if (n == 0)
		return;
	told_len =
		snprintf(told, sizeof(told), "level=warning msg=\"lines dropped\" lines=%u\n", n);
	assert(told_len > 0 && (size_t)told_len < sizeof(told));
	if (!has_room() || write(STDERR_FILENO, told, (size_t)told_len) < 0)
		(void)atomic_fetch_add(&dropped, n);
}

void log_write(enum log_level level, const char *format, ...)
{
	char line[LOG_LINE_MAX];
	int saved = errno;
	size_t len, start;
	va_list ap;
	int n;

	assert(level < LOG_LEVEL_MAX);
	if (level > log_level)
		return;
	n = snprintf(line, sizeof(line), "level=%s ", names[level]);
	assert(n > 0);
	start = (size_t)n;
	va_start(ap, format);
	n = vsnprintf(line + start, sizeof(line) - start, format, ap);
	va_end(ap);
	assert(n >= 0);
	len = start + (size_t)n;
	if (len > sizeof(line) - 1) /* the NUL's place becomes the newline */
		len = sizeof(line) - 1;
	for (size_t i = start; i < len; i++)
		if (is_control(line[i]))
			line[i] = '?';
	line[len] = '\n';
	line_write(line, len + 1);
	errno = saved;
}

static bool needs_quotes(const char *s)
{
	if (*s == '\0')
		return true;
	for (; *s; s++)
		if (is_control(*s) || *s == ' ' || *s == '"' || *s == '\\' || *s == '=')
			return true;
	return false;
}

/* Writes c as it stands inside quotes. Returns the bytes written, 1 to 4. */
static size_t escape(char to[5], char c)
{
	int n;

	if (c == '"' || c == '\\')
		n = snprintf(to, 5, "\\%c", c);
	else if (c == '\n')
		n = snprintf(to, 5, "\\n");
	else if (c == '\t')
		n = snprintf(to, 5, "\\t");
	else if (is_control(c))
		n = snprintf(to, 5, "\\x%02x", (unsigned)(unsigned char)c);
	else
		n = snprintf(to, 5, "%c", c);
	assert(n > 0);
	return (size_t)n;
}

const char *log_quote(char buf[LOG_VALUE_MAX], const char *s)
{
	size_t at = 1;

	if (!s)
		s = "";
	if (!needs_quotes(s) && str_copy(buf, LOG_VALUE_MAX, s) == 0)
		return buf;
	buf[0] = '"';
	for (; *s; s++) {
		char piece[5];
		size_t n = escape(piece, *s);

		if (at + n > LOG_VALUE_MAX - 5) { /* room for ..."NUL */
			memcpy(buf + at, "...", 3);
			at += 3;
			break;
		}
		memcpy(buf + at, piece, n);
		at += n;
	}
	buf[at] = '"';
	buf[at + 1] = '\0';
	return buf;
}

int log_level_parse(const char *name, enum log_level *ret_level)
{
	for (unsigned i = 0; i < LOG_LEVEL_MAX; i++) {
		if (strcmp(name, names[i]) == 0) {
			*ret_level = (enum log_level)i;
			return 0;
		}
	}
	return -EINVAL;
}
