#include "http/server.h"

#include "base/macro.h"

#include "base/unit.h"

#include <errno.h>

/* What a server refuses before it starts; all else needs clients (tests/http). */

static void handle(struct http_request *request)
{
}

static int start_with(const struct http_route *route)
{
	const struct http_config config = {
		.routes = route, .n_routes = 1, .limits = HTTP_LIMITS_DEFAULT
	};
	struct http_server *server = NULL;
	int r = http_server_start(&config, NULL, 0, &server);

	http_server_stop(server);
	return r;
}

static void test_only_get_is_answered_with_a_file_or_with_events(void **state)
{
	static const char *const others[] = { "POST", "PUT", "DELETE" };
	struct http_route route = { "GET", "/x", 0, HTTP_BODY_NONE, 0, handle, true, true };

	assert_int_equal(start_with(&route), 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		route = (struct http_route){ others[i], "/x", 0, HTTP_BODY_NONE, 0, handle, true,
			false };
		assert_int_equal(start_with(&route), -EINVAL);
		route.has_events = false;
		assert_int_equal(start_with(&route), 0);
		route.has_file = true;
		assert_int_equal(start_with(&route), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_get_is_answered_with_a_file_or_with_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
