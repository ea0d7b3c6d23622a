#include "http/syntax/head.h"

#include "base/fault.h"
#include "base/macro.h"
#include "base/str.h"
#include "base/unit.h"

#include <errno.h>
#include <string.h>

/* What the judge says of a head: 0, or the status of the refusal. */
static int judge(const char *text, struct head *head)
{
	struct str bytes = str_from(text);
	struct fault fault;
	size_t size = 0;
	int r = head_scan(bytes, 0, &size);

	if (r < 0)
		return 400;
	assert_int_equal(r, 1);
	assert_int_equal(size, bytes.n);
	r = head_judge(bytes, head, &fault);
	assert_true(r == 0 || r == -EBADMSG);
	return r == 0 ? 0 : fault_status(fault.code);
}

static void test_plain(void **state)
{
	struct head head;
	struct str value;

	assert_int_equal(judge("PUT /a/b?c=d?e HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 12\r\n"
			       "X:\t 1 2 \r\nx: 3\r\n\r\n",
				 &head),
		0);
	assert_true(str_eq(head.method, STR("PUT")));
	assert_true(str_eq(head.target, STR("/a/b?c=d?e")));
	assert_true(str_eq(head.path, STR("/a/b")));
	assert_true(str_eq(head.query, STR("c=d?e")));
	assert_int_equal(head.length, 12);
	assert_false(head.is_chunked || head.is_http_1_0);
	assert_true(head_field_get(&head, "X", &value));
	assert_true(str_eq(value, STR("1 2")));
	assert_false(head_field_get(&head, "y", &value));
}

static void test_good(void **state)
{
	static const char *const heads[] = {
		"GET / HTTP/1.0\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nExpect: 100-Continue\r\n\r\n",
		"GET / HTTP/1.1\r\nhOsT:a.b-c:1\r\nEmpty:\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nName: caf\xc3\xa9 \xff\r\n\r\n",
	};
	struct head head;

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		assert_int_equal(judge(heads[i], &head), 0);
}

#define GET "GET / HTTP/1.1\r\nHost: a\r\n"

static void test_malformed(void **state)
{
	static const char *const heads[] = {
		/* lines */
		"GET / HTTP/1.1\nHost: a\r\n\r\n",
		GET "X: 1\n\r\n",
		GET "X: 1\r2\r\n\r\n",
		GET "X: \x01\r\n\r\n",
		GET "X: \x7f\r\n\r\n",
		"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"\x16\x03\x01",
		"GET / HTTP/1.1\r\n Host: a\r\n\r\n",
		GET " X: 1\r\n\r\n",
		GET "X: 1\r\n\tfolded\r\n\r\n",
		/* request line */
		"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /  HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
		"GET / a HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /\r\nHost: a\r\n\r\n",
		"GET\r\n\r\n",
		"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
		"GET / http/1.1\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.2\r\nHost: a\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET a HTTP/1.1\r\nHost: a\r\n\r\n",
		"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
		"G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
		"ABCDEFGHIJKLMNOPQ / HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /#a HTTP/1.1\r\nHost: a\r\n\r\n",
		/* fields */
		GET "X : 1\r\n\r\n",
		GET ": 1\r\n\r\n",
		GET "X\r\n\r\n",
		GET "X Y: 1\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		GET "Host: a\r\n\r\n",
		GET "host: b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost:\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n",
		/* framing */
		GET "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
		GET "Content-Length: 1, 1\r\n\r\n",
		GET "Content-Length: +1\r\n\r\n",
		GET "Content-Length: -1\r\n\r\n",
		GET "Content-Length: 0x1\r\n\r\n",
		GET "Content-Length:\r\n\r\n",
		GET "Content-Length: 1 1\r\n\r\n",
		GET "Content-Length: 99999999999999999999\r\n\r\n",
		GET "Content-Length: 9223372036854775808\r\n\r\n",
		GET "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		GET "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
		GET "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
		GET "Transfer-Encoding: gzip, chunked\r\n\r\n",
		GET "Transfer-Encoding: gzip\r\n\r\n",
		GET "Transfer-Encoding: chunked, chunked\r\n\r\n",
		GET "Transfer-Encoding:\r\n\r\n",
		GET "Transfer-Encoding: identity\r\n\r\n",
		GET "Transfer-Encoding: xchunked\r\n\r\n",
		GET "Transfer-Encoding: \x0b"
		    "chunked\r\n\r\n",
		"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
		GET "TE: gzip\r\n\r\n",
		GET "TE: trailers, deflate\r\n\r\n",
		GET "Expect: 200-ok\r\n\r\n",
		GET "Authorization: a\r\nAuthorization: b\r\n\r\n",
	};
	struct head head;

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		int status = judge(heads[i], &head);

		if (status != 400)
			fail_msg("%d for %s", status, heads[i]);
	}
}

static void test_nul(void **state)
{
	static const char text[] = "GET /\0 HTTP/1.1\r\n";
	size_t size;

	assert_int_equal(head_scan((struct str){ text, sizeof(text) - 1 }, 0, &size), -EBADMSG);
}

/* A head that drips in byte by byte is scanned once, and its rest is not looked at. */
static void test_drip(void **state)
{
	static const char text[] = GET "X: 1\r\n\r\nGET \x01";
	size_t whole = strlen(GET "X: 1\r\n\r\n"), size = 0;

	for (size_t n = 1; n < whole; n++)
		assert_int_equal(head_scan((struct str){ text, n }, n - 1, &size), 0);
	assert_int_equal(head_scan((struct str){ text, whole }, whole - 1, &size), 1);
	assert_int_equal(size, whole);
	assert_int_equal(head_scan((struct str){ text, sizeof(text) - 1 }, 0, &size), 1);
	assert_int_equal(size, whole);
}

static void fill(char *text, size_t size, const char *start, size_t n, const char *end)
{
	assert_true(strlen(start) + n + strlen(end) < size);
	memset(text, 'a', size);
	memcpy(text, start, strlen(start));
	(void)str_copy(text + strlen(start) + n, size - strlen(start) - n, end);
}

static void test_long(void **state)
{
	static char text[HEAD_MAX + 1024];
	struct head head;

	fill(text, sizeof(text), "GET /", HEAD_TARGET_MAX - 1, " HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(judge(text, &head), 0);
	fill(text, sizeof(text), "GET /", HEAD_TARGET_MAX, " HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(judge(text, &head), 414);
	fill(text, sizeof(text), GET "X: ", HEAD_MAX - strlen(GET "X: ") - 4, "\r\n\r\n");
	assert_int_equal(judge(text, &head), 0);
	fill(text, sizeof(text), GET "X: ", HEAD_MAX - strlen(GET "X: ") - 3, "\r\n\r\n");
	assert_int_equal(judge(text, &head), 431);
}

static void test_many_fields(void **state)
{
	char text[2048] = GET;
	size_t n = strlen(text);
	struct head head;

	for (unsigned i = 1; i < HEAD_FIELDS_MAX; i++, n += 4)
		memcpy(text + n, "X:\r\n", 4);
	(void)str_copy(text + n, sizeof(text) - n, "\r\n");
	assert_int_equal(judge(text, &head), 0);
	(void)str_copy(text + n, sizeof(text) - n, "X:\r\n\r\n");
	assert_int_equal(judge(text, &head), 431);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_drip),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_many_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
