#include "call/stream.h"

#include "base/buf.h"
#include "base/macro.h"
#include "base/unit.h"
#include "base/utf8.h"
#include "call/call.h"

#include <errno.h>
#include <string.h>

struct listener {
	struct call_watch watch;
	struct buf heard;
	unsigned calls;
	int result;
};

static int on_output(struct call_watch *watch, enum run_stream which, struct str text)
{
	struct listener *listener = container_of(watch, struct listener, watch);

	assert_int_equal(which, RUN_STDERR);
	listener->calls++;
	assert_int_equal(buf_add_slice(&listener->heard, text), 0);
	return listener->result;
}

static void listen_to(struct listener *listener, struct stream *stream)
{
	*listener = (struct listener){ .watch = { .on_output = on_output } };
	buf_init(&listener->heard, 4 * CALL_STREAM_MAX);
	*stream = (struct stream){ .watch = &listener->watch, .which = RUN_STDERR };
}

/* Cut at every place, all that is told is whole characters, and nothing is lost. */
static void test_no_character_is_cut(void **state)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";

	for (size_t cut = 0; cut < sizeof(text); cut++)
		for (size_t again = cut; again < sizeof(text); again++) {
			struct listener listener;
			struct stream stream;
			const size_t ends[] = { 0, cut, again, sizeof(text) - 1 };

			listen_to(&listener, &stream);
			for (size_t i = 1; i < 4; i++) {
				size_t from = MIN(ends[i - 1], ends[3]), to = MIN(ends[i], ends[3]);

				assert_int_equal(stream_feed(&stream,
							 (struct str){ text + from, to - from }),
					0);
				assert_true(utf8_is_valid(
					buf_get_cstr(&listener.heard), listener.heard.len));
			}
			assert_int_equal(stream_end(&stream), 0);
			assert_string_equal(buf_get_cstr(&listener.heard), text);
			buf_fini(&listener.heard);
		}
}

static void test_bytes_that_are_no_text_pass_as_they_are(void **state)
{
	static const char bytes[] = "\xe2\xe2\x82x\xff\xf0\x9f";
	struct listener listener;
	struct stream stream;

	listen_to(&listener, &stream);
	for (size_t i = 0; i + 1 < sizeof(bytes); i++)
		assert_int_equal(stream_feed(&stream, (struct str){ bytes + i, 1 }), 0);
	assert_int_equal(listener.heard.len, 5);
	assert_int_equal(stream_end(&stream), 0);
	assert_int_equal(stream_end(&stream), 0);
	assert_string_equal(buf_get_cstr(&listener.heard), bytes);
	buf_fini(&listener.heard);
}

static void test_a_flood_is_told_in_part(void **state)
{
	static char block[8192];
	struct listener listener;
	struct stream stream;

	memset(block, 'x', sizeof(block));
	listen_to(&listener, &stream);
	for (unsigned i = 0; i < 2 * CALL_STREAM_MAX / sizeof(block); i++)
		assert_int_equal(stream_feed(&stream, (struct str){ block, sizeof(block) }), 0);
	assert_int_equal(listener.heard.len, CALL_STREAM_MAX);
	buf_fini(&listener.heard);
}

static void test_a_listener_that_leaves_and_none(void **state)
{
	struct listener listener;
	struct stream stream;

	listen_to(&listener, &stream);
	listener.result = -EPIPE;
	assert_int_equal(stream_feed(&stream, STR("x")), -EPIPE);
	buf_fini(&listener.heard);
	stream = (struct stream){ .watch = NULL };
	assert_int_equal(stream_feed(&stream, STR("x\xe2")), 0);
	assert_int_equal(stream_end(&stream), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_character_is_cut),
		cmocka_unit_test(test_bytes_that_are_no_text_pass_as_they_are),
		cmocka_unit_test(test_a_flood_is_told_in_part),
		cmocka_unit_test(test_a_listener_that_leaves_and_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
