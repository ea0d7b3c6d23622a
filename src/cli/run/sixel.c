/*
 * Theory of operation: one pass over the bytes with the place of the pen. All that a terminal would
 * have to do for them is bounded by what they draw: the pen stays in the picture, and each band is
 * gone over at most once for each colour, so that a short text with long repetitions cannot keep
 * the terminal busy.
 */
#include "cli/run/sixel.h"

#define COLOUR_RGB     2
#define COLOUR_PERCENT 100
#define BAND_HEIGHT    6

#define START "\033Pq\"1;1;"

struct pen {
	struct str rest; /* unread */
	unsigned width, height;
	unsigned column, band, passes;
};

static bool next_is(struct pen *pen, char c)
{
	if (pen->rest.n == 0 || pen->rest.p[0] != c)
		return false;
	pen->rest = (struct str){ pen->rest.p + 1, pen->rest.n - 1 };
	return true;
}

/* A decimal number of 0 to max. */
static bool number_read(struct pen *pen, unsigned max, unsigned *ret)
{
	struct str digits = { pen->rest.p, 0 };
	uint64_t value;

	while (digits.n < pen->rest.n && digits.p[digits.n] >= '0' && digits.p[digits.n] <= '9')
		digits.n++;
	if (str_to_u64(digits, max, &value) < 0)
		return false;
	pen->rest = (struct str){ pen->rest.p + digits.n, pen->rest.n - digits.n };
	*ret = (unsigned)value;
	return true;
}

static bool head_read(struct pen *pen)
{
	if (!str_starts(pen->rest, STR(START)))
		return false;
	pen->rest =
		(struct str){ pen->rest.p + sizeof(START) - 1, pen->rest.n - sizeof(START) + 1 };
	return number_read(pen, SIXEL_SIDE_MAX, &pen->width) && next_is(pen, ';') &&
	       number_read(pen, SIXEL_SIDE_MAX, &pen->height) && pen->width > 0 && pen->height > 0;
}

/* Behind a '#': a colour is chosen, or said what it is. */
static bool colour_read(struct pen *pen)
{
	unsigned value;

	if (!number_read(pen, SIXEL_COLOURS - 1, &value))
		return false;
	if (!next_is(pen, ';'))
		return true;
	if (!number_read(pen, COLOUR_RGB, &value) || value != COLOUR_RGB)
		return false;
	for (int i = 0; i < 3; i++)
		if (!next_is(pen, ';') || !number_read(pen, COLOUR_PERCENT, &value))
			return false;
	return true;
}

/* One sixel, `count` times. */
static bool sixel_read(struct pen *pen, unsigned count)
{
	if (pen->rest.n == 0 || pen->rest.p[0] < '?' || pen->rest.p[0] > '~' ||
		count > pen->width - pen->column || pen->band * BAND_HEIGHT >= pen->height)
		return false;
	pen->rest = (struct str){ pen->rest.p + 1, pen->rest.n - 1 };
	pen->column += count;
	return true;
}

static bool repeat_read(struct pen *pen)
{
	unsigned count;

	return number_read(pen, SIXEL_SIDE_MAX, &count) && count > 0 && sixel_read(pen, count);
}

static bool item_read(struct pen *pen)
{
	if (next_is(pen, '#'))
		return colour_read(pen);
	if (next_is(pen, '!'))
		return repeat_read(pen);
	if (next_is(pen, '$')) {
		pen->column = 0;
		return ++pen->passes <= SIXEL_COLOURS;
	}
	if (next_is(pen, '-')) {
		pen->column = pen->passes = 0;
		return ++pen->band * BAND_HEIGHT < pen->height + BAND_HEIGHT;
	}
	return sixel_read(pen, 1);
}

bool sixel_is_picture(struct str text)
{
	struct pen pen = { .rest = text };

	if (text.n > SIXEL_BYTES_MAX || !head_read(&pen))
		return false;
	while (pen.rest.n > 0 && pen.rest.p[0] != '\033')
		if (!item_read(&pen))
			return false;
	return str_eq(pen.rest, STR("\033\\"));
}
