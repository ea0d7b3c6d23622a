#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * printf(3) into a buffer, as far as init formats: %s, %d, %u, %lu and %%. Anything else is a
 * mistake of ours and ends the program. The checked names are what FORTIFY makes of the plain ones.
 */

int __vsnprintf_chk(
	char *text, size_t cap, int flag, size_t room, const char *format, va_list arguments);
int __snprintf_chk(char *text, size_t cap, int flag, size_t room, const char *format, ...);

struct out {
	char *text;
	size_t cap;
	size_t n; /* also counts what did not fit */
};

static void out_char(struct out *out, char c)
{
	if (out->n + 1 < out->cap)
		out->text[out->n] = c;
	out->n++;
}

static void out_string(struct out *out, const char *s)
{
	while (*s)
		out_char(out, *s++);
}

static void out_number(struct out *out, unsigned long number)
{
	char digits[20];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n > 0)
		out_char(out, digits[--n]);
}

static void out_signed(struct out *out, int number)
{
	if (number < 0)
		out_char(out, '-');
	out_number(out, number < 0 ? -(unsigned long)number : (unsigned long)number);
}

int __vsnprintf_chk(
	char *text, size_t cap, int flag, size_t room, const char *format, va_list arguments)
{
	struct out out = { .text = text, .cap = cap };

	(void)flag;
	if (cap > room)
		__builtin_trap();
	for (; *format; format++) {
		if (*format != '%') {
			out_char(&out, *format);
			continue;
		}
		switch (*++format) {
		case 's':
			out_string(&out, va_arg(arguments, const char *));
			break;
		case 'd':
			out_signed(&out, va_arg(arguments, int));
			break;
		case 'u':
			out_number(&out, va_arg(arguments, unsigned));
			break;
		case 'l':
			if (*++format != 'u')
				__builtin_trap();
			out_number(&out, va_arg(arguments, unsigned long));
			break;
		case '%':
			out_char(&out, '%');
			break;
		default:
			__builtin_trap();
		}
	}
	if (cap > 0)
		text[out.n < cap ? out.n : cap - 1] = '\0';
	return (int)out.n;
}

int __snprintf_chk(char *text, size_t cap, int flag, size_t room, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = __vsnprintf_chk(text, cap, flag, room, format, arguments);
	va_end(arguments);
	return n;
}
