/*
 * Theory of operation: one pass over the lines, slices only, nothing is copied or kept. What a
 * setting means is the callback's business; here is only the form. Control characters are refused
 * because they are always an accident (a binary file, a lost CR) and would end up in messages.
 */
#include "base/conf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

struct reader {
	conf_on_value *on_value;
	void *ctx;
	struct str section;
	struct conf_error *error;
	unsigned line;
};

__attribute__((format(printf, 2, 3))) static int refuse(
	struct reader *reader, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(reader->error->text, sizeof(reader->error->text), format, ap);
	va_end(ap);
	return -EBADMSG;
}

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
			    c == '_' || c == '.' || c == '-'))
			return false;
	}
	return s.n > 0;
}

/* The line without its comment. */
static struct str strip_comment(struct str line)
{
	for (size_t i = 0; i < line.n; i++)
		if (line.p[i] == '#' && (i == 0 || line.p[i - 1] == ' ' || line.p[i - 1] == '\t'))
			return (struct str){ line.p, i };
	return line;
}

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (((unsigned char)s.p[i] < 0x20 && s.p[i] != '\t') || s.p[i] == 0x7f)
			return true;
	return false;
}

static int read_section(struct reader *reader, struct str line)
{
	struct str name = { line.p + 1, line.n - 1 };

	if (!str_ends(name, STR("]")))
		return refuse(reader, "a section ends with ']'");
	name.n--;
	name = str_trim(name);
	if (!is_name(name))
		return refuse(reader, "a section's name is of A-Z a-z 0-9 _ . -");
	reader->section = name;
	return 0;
}

static int read_setting(struct reader *reader, struct str line)
{
	struct str key, value;
	int r;

	if (!str_split_once(line, '=', &key, &value))
		return refuse(reader, "expected 'key = value' or '[section]'");
	key = str_trim(key);
	value = str_trim(value);
	if (!is_name(key))
		return refuse(reader, "a key is of A-Z a-z 0-9 _ . -");
	r = reader->on_value(reader->ctx, reader->section, key, value, reader->line);
	if (r < 0 && reader->error->text[0] == '\0')
		(void)refuse(reader, "'%.*s' does not take this value",
			(int)(key.n < 64 ? key.n : 64), key.p);
	return r < 0 ? r : 0;
}

static int read_line(struct reader *reader, struct str line)
{
	if (str_ends(line, STR("\r")))
		line.n--;
	if (line.n > CONF_LINE_MAX)
		return refuse(reader, "longer than %d bytes", CONF_LINE_MAX);
	line = str_trim(strip_comment(line));
	if (line.n == 0)
		return 0;
	if (has_control(line))
		return refuse(reader, "holds a control character");
	return line.p[0] == '[' ? read_section(reader, line) : read_setting(reader, line);
}

int conf_parse(struct str text, conf_on_value *on_value, void *ctx, struct conf_error *ret_error)
{
	struct reader reader = { .on_value = on_value, .ctx = ctx, .error = ret_error };

	reader.section = STR("");
	*ret_error = (struct conf_error){ .line = 0 };
	while (text.n > 0) {
		struct str line;
		int r;

		(void)str_split_once(text, '\n', &line, &text);
		reader.line++;
		ret_error->line = reader.line;
		r = read_line(&reader, line);
		if (r < 0)
			return r;
	}
	ret_error->line = 0;
	return 0;
}
