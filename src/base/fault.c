/*
 * Theory of operation: fault.def is the one list of what can be told to a client; this file turns
 * it into tables. Texts are for people: one that is too long is cut at a whole UTF-8 character
 * rather than lost.
 */
#include "base/fault.h"

#include "base/assert.h"
#include "base/str.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct row {
	const char *name;
	const char *advice;
	int status;
};

static const struct row rows[FAULT_CODE_MAX] = {
	[FAULT_NONE] = { "none", "", 0 },
#define FAULT(code, name, status, advice) [FAULT_##code] = { name, advice, status },
#include "base/fault.def"
#undef FAULT
};

static const struct row *row_get(enum fault_code code)
{
	assert(code < FAULT_CODE_MAX);
	return &rows[code];
}

/* Drops the last character of s, n bytes cut by vsnprintf, if the cut went through it. */
static void trim_character(char *s, size_t n)
{
	size_t lead = n, length = 1;
	unsigned char c;

	do
		c = (unsigned char)s[--lead];
	while (lead > 0 && (c & 0xc0) == 0x80);
	if (c >= 0xc0)
		length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	if (n - lead < length)
		s[lead] = '\0';
}

__attribute__((format(printf, 3, 0))) static void text_write(
	char *text, size_t size, const char *format, va_list ap)
{
	int n = vsnprintf(text, size, format, ap);

	assert(n >= 0);
	if ((size_t)n >= size)
		trim_character(text, size - 1);
}

__attribute__((format(printf, 3, 0))) static void fill(
	struct fault *f, enum fault_code code, const char *format, va_list ap)
{
	memset(f, 0, sizeof(*f));
	f->code = code;
	text_write(f->text, sizeof(f->text), format, ap);
}

void fault_set(struct fault *f, enum fault_code code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fill(f, code, format, ap);
	va_end(ap);
}

void fault_set_field(struct fault *f, const char *field, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fill(f, FAULT_INVALID_FIELD, format, ap);
	va_end(ap);
	(void)str_copy(f->field, sizeof(f->field), field);
	fault_advise(f, "Mend the field %s as detail says.", f->field);
}

void fault_set_stage(struct fault *f, const char *stage, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fill(f, FAULT_SANDBOX_UNAVAILABLE, format, ap);
	va_end(ap);
	(void)str_copy(f->stage, sizeof(f->stage), stage);
}

void fault_advise(struct fault *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	text_write(f->advice, sizeof(f->advice), format, ap);
	va_end(ap);
}

const char *fault_name(enum fault_code code)
{
	return row_get(code)->name;
}

int fault_status(enum fault_code code)
{
	return row_get(code)->status;
}

const char *fault_advice(const struct fault *f)
{
	return f->advice[0] ? f->advice : row_get(f->code)->advice;
}
