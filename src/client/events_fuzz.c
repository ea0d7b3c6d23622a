/*
 * Any stream is read twice, whole and cut into pieces whose size is its first byte: both readings
 * must tell the same events and end the same way.
 */
#include "client/events.h"

#include "base/assert.h"
#include "base/macro.h"

#include <stdint.h>
#include <string.h>

#define DATA_MAX 1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
	struct events events;
	struct buf text;
};

static int on_event(struct events *events, struct str name, struct str data)
{
	struct told *told = container_of(events, struct told, events);

	assert(name.n > 0 && name.n <= EVENTS_NAME_MAX && data.n <= DATA_MAX);
	(void)buf_add_slice(&told->text, name);
	(void)buf_add_char(&told->text, '=');
	(void)buf_add_slice(&told->text, data);
	(void)buf_add_char(&told->text, '|');
	return data.n == 3 ? -1 : 0;
}

static int read_all(struct told *told, struct str text, size_t piece)
{
	int r = 0;

	events_init(&told->events, DATA_MAX, on_event);
	buf_init(&told->text, (size_t)1 << 20);
	while (text.n > 0 && r == 0) {
		size_t n = MIN(text.n, piece);

		r = events_feed(&told->events, (struct str){ text.p, n });
		text.p += n;
		text.n -= n;
	}
	events_fini(&told->events);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct told whole, cut;
	struct str text;
	int r;

	if (size == 0)
		return 0;
	text = (struct str){ (const char *)data + 1, size - 1 };
	r = read_all(&whole, text, size);
	assert(r == read_all(&cut, text, (size_t)data[0] + 1));
	assert(str_eq(buf_get_slice(&whole.text), buf_get_slice(&cut.text)));
	buf_fini(&whole.text);
	buf_fini(&cut.text);
	return 0;
}
