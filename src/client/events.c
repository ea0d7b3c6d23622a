/*
 * Theory of operation: bytes are gathered into lines, lines into events. What state there is, is in
 * the struct: the line begun, the data so far, and whether the last byte was a CR, so that a stream
 * may be cut anywhere. An event that the stream's end cuts off is dropped, as the standard has it.
 */
#include "client/events.h"

#include <errno.h>
#include <string.h>

#define FIELD_MAX 16 /* bytes of a field's name, a colon and a space before the data */

void events_init(struct events *events, size_t data_max, events_on_event *on_event)
{
	*events = (struct events){ .on_event = on_event };
	buf_init(&events->line, data_max + FIELD_MAX);
	buf_init(&events->data, data_max + 1); /* each data line ends with a LF, the last too */
}

void events_fini(struct events *events)
{
	buf_fini(&events->line);
	buf_fini(&events->data);
}

/* Tells the event that a blank line has ended, if it is one. */
static int event_end(struct events *events)
{
	struct str data = buf_get_slice(&events->data);
	int r = 0;

	if (events->has_data) {
		data.n--; /* the last LF is not data */
		r = events->on_event(
			events, events->name[0] ? str_from(events->name) : STR("message"), data);
	}
	buf_clear(&events->data);
	events->has_data = false;
	events->name[0] = '\0';
	return r;
}

static int field_take(struct events *events, struct str name, struct str value)
{
	int r = 0;

	if (str_eq(name, STR("data"))) {
		events->has_data = true;
		r = buf_add_slice(&events->data, value);
		return r < 0 ? r : buf_add_char(&events->data, '\n');
	}
	if (str_eq(name, STR("event"))) {
		if (value.n > EVENTS_NAME_MAX)
			return -ENOBUFS;
		if (value.n > 0)
			memcpy(events->name, value.p, value.n);
		events->name[value.n] = '\0';
	}
	return r;
}

static int line_take(struct events *events, struct str line)
{
	struct str name, value;

	if (!events->is_begun && str_starts(line, STR("\xef\xbb\xbf"))) {
		line.p += 3;
		line.n -= 3;
	}
	events->is_begun = true;
	if (line.n == 0)
		return event_end(events);
	if (line.p[0] == ':')
		return 0;
	(void)str_split_once(line, ':', &name, &value);
	if (str_starts(value, STR(" "))) {
		value.p++;
		value.n--;
	}
	return field_take(events, name, value);
}

/* Bytes of s before the first CR or LF. */
static size_t line_length(struct str s)
{
	const char *lf = s.n > 0 ? memchr(s.p, '\n', s.n) : NULL;
	size_t n = lf ? (size_t)(lf - s.p) : s.n;
	const char *cr = n > 0 ? memchr(s.p, '\r', n) : NULL;

	return cr ? (size_t)(cr - s.p) : n;
}

int events_feed(struct events *events, struct str bytes)
{
	while (bytes.n > 0) {
		size_t n;
		int r;

		if (events->is_after_cr && bytes.p[0] == '\n') {
			bytes.p++;
			bytes.n--;
		}
		events->is_after_cr = false;
		n = line_length(bytes);
		r = buf_add(&events->line, bytes.p, n);
		if (r < 0)
			return r;
		bytes.p += n;
		bytes.n -= n;
		if (bytes.n == 0)
			break;
		events->is_after_cr = bytes.p[0] == '\r';
		bytes.p++;
		bytes.n--;
		r = line_take(events, buf_get_slice(&events->line));
		buf_clear(&events->line);
		if (r < 0)
			return r;
	}
	return 0;
}
