#include "client/events.h"

#include "base/macro.h"
#include "base/unit.h"

#include <errno.h>
#include <string.h>

/* Writes each event as "name=data|" into what was told. */
struct told {
	struct events events;
	struct buf text;
	int answer;
};

static int on_event(struct events *events, struct str name, struct str data)
{
	struct told *told = container_of(events, struct told, events);

	(void)buf_addf(&told->text, "%.*s=%.*s|", STR_ARG(name), STR_ARG(data));
	return told->answer;
}

/* Feeds text in pieces of n bytes. Returns the result of the last feed. */
static int feed(struct told *told, const char *text, size_t n)
{
	struct str left = str_from(text);
	int r = 0;

	events_init(&told->events, 64, on_event);
	buf_init(&told->text, 4096);
	while (left.n > 0 && r == 0) {
		struct str piece = { left.p, MIN(left.n, n) };

		r = events_feed(&told->events, piece);
		left.p += piece.n;
		left.n -= piece.n;
	}
	return r;
}

static void told_fini(struct told *told)
{
	events_fini(&told->events);
	buf_fini(&told->text);
}

static void test_forms_in_pieces_of_any_size(void **state)
{
	static const struct {
		const char *text, *told;
	} rows[] = {
		{ "event: end\ndata: {}\n\n", "end={}|" },
		{ "event: a\r\ndata: 1\r\n\r\nevent: b\r\ndata: 2\r\n\r\n", "a=1|b=2|" },
		{ "event: a\rdata: 1\r\revent: b\rdata: 2\r\r", "a=1|b=2|" },
		{ "data: 1\ndata: 2\n\n", "message=1\n2|" },
		{ "data\n\n", "message=|" },
		{ "data:\ndata:\n\n", "message=\n|" },
		{ "data:  two blanks\n\n", "message= two blanks|" },
		{ "data:x:y\n\n", "message=x:y|" },
		{ ": a comment\n\n: another\ndata: 1\n\n", "message=1|" },
		{ "event: lonely\n\ndata: 1\n\n", "message=1|" },
		{ "id: 7\nretry: 9\nunknown: x\ndata: 1\n\n", "message=1|" },
		{ "\xef\xbb\xbf"
		  "data: 1\n\n",
			"message=1|" },
		{ "data: 1\n\n\xef\xbb\xbf"
		  "data: 2\n\n",
			"message=1|" },
		{ "data: cut off\n", "" },
		{ "data: cut off", "" },
		{ "\n\n\r\r\n\n", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (size_t n = 1; n < 9; n++) {
			struct told told = { .answer = 0 };

			assert_int_equal(feed(&told, rows[i].text, n), 0);
			assert_string_equal(buf_get_cstr(&told.text), rows[i].told);
			told_fini(&told);
		}
	}
}

static void test_bounds(void **state)
{
	char text[256];
	struct told told = { .answer = 0 };

	(void)snprintf(text, sizeof(text), "data: %.64s\n\n",
		"0123456789012345678901234567890123456789012345678901234567890123456789");
	assert_int_equal(feed(&told, text, 7), 0);
	assert_int_equal(told.text.len, 8 + 64 + 1);
	told_fini(&told);
	(void)snprintf(text, sizeof(text), "data: %065d\n\n", 1);
	assert_int_equal(feed(&told, text, 7), -ENOBUFS);
	told_fini(&told);
	(void)snprintf(text, sizeof(text), "data: %060d\ndata: %060d\n\n", 1, 1);
	assert_int_equal(feed(&told, text, 7), -ENOBUFS);
	told_fini(&told);
	(void)snprintf(text, sizeof(text), "event: %065d\n\n", 1);
	assert_int_equal(feed(&told, text, 7), -ENOBUFS);
	told_fini(&told);
	memset(text, ':', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(feed(&told, text, 7), -ENOBUFS);
	told_fini(&told);
}

static void test_the_reader_stops_it(void **state)
{
	struct told told = { .answer = -EPIPE };

	assert_int_equal(feed(&told, "data: 1\n\ndata: 2\n\n", 99), -EPIPE);
	assert_string_equal(buf_get_cstr(&told.text), "message=1|");
	told_fini(&told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms_in_pieces_of_any_size),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_the_reader_stops_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
