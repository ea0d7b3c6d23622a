#include "http/exchange/exchange.h"

#include "base/unit.h"

#include <errno.h>
#include <string.h>

#define LONG_US (10 * USEC_PER_S)

/* The library's thread of a request whose body is "abc", "de". */
struct library {
	struct exchange exchange;
	pthread_t thread;
	bool is_early;	 /* answered at the head */
	bool is_offered; /* both pieces were taken */
	bool is_sent;	 /* the answer is the library's to send */
};

static void *library_main(void *arg)
{
	struct library *library = arg;

	library->is_early = exchange_begin(&library->exchange);
	if (library->is_early)
		return NULL;
	library->is_offered = exchange_offer(&library->exchange, "abc", 3) &&
			      exchange_offer(&library->exchange, "de", 2);
	if (library->is_offered)
		library->is_sent = exchange_end(&library->exchange);
	exchange_close(&library->exchange);
	return NULL;
}

static void library_start(struct library *library, void *(*main)(void *))
{
	memset(library, 0, sizeof(*library));
	exchange_init(&library->exchange);
	assert_int_equal(pthread_create(&library->thread, NULL, main, library), 0);
}

static void library_join(struct library *library)
{
	pthread_join(library->thread, NULL);
	exchange_fini(&library->exchange);
}

static void test_body_in_pieces(void **state)
{
	struct library library;
	usec_t waited_us = 0;
	char data[8] = "";

	library_start(&library, library_main);
	assert_int_equal(exchange_read(&library.exchange, data, 2, LONG_US, &waited_us), 2);
	assert_int_equal(exchange_read(&library.exchange, data + 2, 5, LONG_US, &waited_us), 1);
	assert_int_equal(exchange_read(&library.exchange, data + 3, 5, LONG_US, &waited_us), 2);
	assert_int_equal(exchange_read(&library.exchange, data + 5, 2, LONG_US, &waited_us), 0);
	assert_int_equal(exchange_read(&library.exchange, data + 5, 2, LONG_US, &waited_us), 0);
	assert_string_equal(data, "abcde");
	assert_true(exchange_answer(&library.exchange, true));
	library_join(&library);
	assert_true(library.is_offered && library.is_sent && !library.is_early);
}

static void test_answer_at_the_head(void **state)
{
	struct library library;

	library_start(&library, library_main);
	assert_true(exchange_answer(&library.exchange, false));
	library_join(&library);
	assert_true(library.is_early);
}

static void test_answer_in_the_middle(void **state)
{
	struct library library;
	usec_t waited_us = 0;
	char byte;

	library_start(&library, library_main);
	assert_int_equal(exchange_read(&library.exchange, &byte, 1, LONG_US, &waited_us), 1);
	assert_false(exchange_answer(&library.exchange, false));
	exchange_answer_direct(&library.exchange);
	library_join(&library);
	assert_false(library.is_offered || library.is_sent);
}

/* Of a body whose length is known the last byte is read before the library says that it has ended.
 */
static void test_answer_before_the_end_is_said(void **state)
{
	struct library library;
	usec_t waited_us = 0;
	char data[5];

	library_start(&library, library_main);
	for (size_t n = 0; n < sizeof(data);)
		n += (size_t)exchange_read(&library.exchange, data, 5, LONG_US, &waited_us);
	assert_true(exchange_answer(&library.exchange, true));
	library_join(&library);
	assert_true(library.is_sent);
}

static void *leaving_main(void *arg)
{
	struct library *library = arg;

	(void)exchange_begin(&library->exchange);
	exchange_close(&library->exchange);
	return NULL;
}

static void test_client_that_leaves(void **state)
{
	struct library library;
	usec_t waited_us = 0;
	char byte;

	library_start(&library, leaving_main);
	assert_int_equal(
		exchange_read(&library.exchange, &byte, 1, LONG_US, &waited_us), -ECONNRESET);
	assert_true(exchange_answer(&library.exchange, false));
	library_join(&library);
}

static void test_waiting_is_bounded_and_counted(void **state)
{
	struct exchange exchange;
	usec_t waited_us = 5;
	char byte;

	exchange_init(&exchange);
	assert_int_equal(exchange_read(&exchange, &byte, 1, 20000, &waited_us), -ETIMEDOUT);
	assert_true(waited_us >= 20005);
	assert_int_equal(exchange_read(&exchange, &byte, 1, 0, &waited_us), -ETIMEDOUT);
	exchange_fini(&exchange);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_body_in_pieces),
		cmocka_unit_test(test_answer_at_the_head),
		cmocka_unit_test(test_answer_in_the_middle),
		cmocka_unit_test(test_answer_before_the_end_is_said),
		cmocka_unit_test(test_client_that_leaves),
		cmocka_unit_test(test_waiting_is_bounded_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
