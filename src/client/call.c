/*
 * Theory of operation: an answer is good when its status is 2xx and its type is the one asked for;
 * then its bytes go to the call's reader. Any other body is gathered up to a small bound and read
 * as problem+json (client/problem.h); what is none of the two is no answer of a supervisor,
 * whatever its status says.
 */
#include "client/call.h"

#include "base/alloc.h"
#include "base/macro.h"
#include "base/utf8.h"
#include "client/problem.h"
#include "json/json.h"
#include "json/parse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PATH_SIZE_MAX                                                                              \
	(16u * 1024) /* bytes: a file's path of 4,096 with each encoded, and a key                 \
		      */

int trouble_set(struct sandbox_trouble *trouble, const struct sandbox *sandbox, int r,
	const char *format, ...)
{
	char text[sizeof(trouble->fault.text)];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	/* A type, or what libcurl quotes, may be the server's words. */
	utf8_clean(text);
	*trouble = (struct sandbox_trouble){ .retry_after_s = 0 };
	fault_set(&trouble->fault, FAULT_SANDBOX_UNAVAILABLE, "%s: %s", sandbox->server, text);
	return r;
}

void call_init(
	struct call *call, const struct sandbox *sandbox, const char *method, uint64_t answer_max)
{
	*call = (struct call){ .fetch = { .method = method,
				       .token = sandbox->token,
				       .socket_path = sandbox->socket_path,
				       .accept = "application/json",
				       .answer_max = MAX(answer_max, (uint64_t)CALL_PROBLEM_MAX),
				       .connect_ms = sandbox->connect_ms,
				       .total_ms = sandbox->call_ms,
				       .wake_fd = -1,
				       .body_fd = -1 } };
	buf_init(&call->path, PATH_SIZE_MAX);
	buf_init(&call->body, MAX(answer_max, (uint64_t)CALL_PROBLEM_MAX));
	call_path_text(call, sandbox->base);
}

void call_fini(struct call *call)
{
	buf_fini(&call->path);
	buf_fini(&call->body);
}

void call_path_text(struct call *call, const char *text)
{
	(void)buf_add_str(&call->path, text); /* too long: the server says so */
}

/* Appends bytes, all but the unreserved ones as %XX. Returns 0 or -ENOBUFS. */
static int encoded_add(struct buf *out, struct str bytes)
{
	int r = 0;

	for (size_t i = 0; i < bytes.n && r == 0; i++) {
		unsigned char c = (unsigned char)bytes.p[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			(c != '\0' && strchr("-._~", c)))
			r = buf_add_char(out, (char)c);
		else
			r = buf_addf(out, "%%%02X", c);
	}
	return r;
}

int call_path_segment(struct call *call, struct str segment)
{
	if (segment.n == 0 || str_eq(segment, STR(".")) || str_eq(segment, STR("..")) ||
		memchr(segment.p, '\0', segment.n))
		return -EINVAL;
	if (buf_add_char(&call->path, '/') < 0 || encoded_add(&call->path, segment) < 0)
		return -EINVAL;
	return 0;
}

void call_query_value(struct call *call, struct str value)
{
	(void)encoded_add(&call->path, value);
}

int call_path_file(struct call *call, struct str path)
{
	struct str segment;
	bool has_more;
	int r;

	do {
		has_more = str_split_once(path, '/', &segment, &path);
		r = call_path_segment(call, segment);
	} while (r == 0 && has_more);
	return r;
}

/* True if a Content-Type header names this type, with or without parameters. */
static bool type_is(const char *header, const char *type)
{
	size_t n = strlen(type);

	return strncasecmp(header, type, n) == 0 && strchr("; \t", header[n]) != NULL;
}

/* A part, or a coding of the bytes, that no call of ours asks for: it would be taken for the whole
 * and plain thing. */
static bool is_unasked(const struct fetch_answer *answer)
{
	return answer->status == 206 || answer->is_encoded;
}

static bool answer_is_good(const struct call *call, const struct fetch_answer *answer)
{
	if (answer->status < 200 || answer->status > 299 || is_unasked(answer))
		return false;
	return !call->type || type_is(answer->content_type, call->type);
}

static int on_head(struct fetch_watch *watch, const struct fetch_answer *answer)
{
	struct call *call = container_of(watch, struct call, watch);

	call->is_good = answer_is_good(call, answer);
	return 0;
}

static int on_body(struct fetch_watch *watch, struct str bytes)
{
	struct call *call = container_of(watch, struct call, watch);

	if (call->is_good && call->on_bytes)
		return call->on_bytes(call, bytes);
	if (!call->is_good && call->body.len + bytes.n > CALL_PROBLEM_MAX)
		return -EMSGSIZE;
	return buf_add_slice(&call->body, bytes);
}

static int on_wake(struct fetch_watch *watch)
{
	struct call *call = container_of(watch, struct call, watch);

	return call->on_wake ? call->on_wake(call) : 0;
}

/* What came is none of ours. */
static int stranger_tell(const struct fetch_answer *answer, const struct sandbox *sandbox,
	struct sandbox_trouble *ret_trouble)
{
	if (is_unasked(answer))
		return trouble_set(ret_trouble, sandbox, -EPROTO,
			"the answer %d is %s, which nobody asked for", answer->status,
			answer->status == 206 ? "a part" : "packed");
	return trouble_set(ret_trouble, sandbox, -EPROTO,
		"the answer %d of type '%.60s' is none of a cloche supervisor", answer->status,
		answer->content_type);
}

/* No whole answer came. */
static int end_tell(struct call *call, const struct sandbox *sandbox, enum fetch_end end,
	struct sandbox_trouble *ret_trouble)
{
	static const struct {
		int r;
		const char *what;
	} rows[] = {
		[FETCH_DONE] = { 0, "" },
		[FETCH_UNREACHABLE] = { -ECONNREFUSED, "cannot be reached" },
		[FETCH_TIMEOUT] = { -ETIMEDOUT, "takes too long" },
		[FETCH_INSECURE] = { -EPROTO, "no secure connection" },
		[FETCH_MALFORMED] = { -EPROTO, "the answer is no HTTP" },
		[FETCH_CUT] = { -ECONNRESET, "the answer was cut" },
		[FETCH_TOO_LARGE] = { -EMSGSIZE, "refused here" },
		[FETCH_STOPPED] = { -ECANCELED, "stopped here" },
		[FETCH_FAILED] = { -EIO, "failed here" },
	};

	/* Only a body that is no good answer is stopped for its size (on_body). */
	if (end == FETCH_STOPPED && !call->is_good && call->answer.status != 0)
		return stranger_tell(&call->answer, sandbox, ret_trouble);
	return trouble_set(
		ret_trouble, sandbox, rows[end].r, "%s: %s", rows[end].what, call->answer.text);
}

/* A whole answer came that is no good one. */
static int refusal_tell(
	const struct call *call, const struct sandbox *sandbox, struct sandbox_trouble *ret_trouble)
{
	const struct fetch_answer *answer = &call->answer;

	if (answer->status >= 300 && answer->status <= 399)
		return trouble_set(ret_trouble, sandbox, -EPROTO,
			"the answer %d sends us elsewhere, where we do not go; name that server",
			answer->status);
	*ret_trouble =
		(struct sandbox_trouble){ .retry_after_s = answer->retry_after_s, .is_told = true };
	if (answer->status >= 400 && type_is(answer->content_type, "application/problem+json") &&
		problem_read(buf_get_slice(&call->body), &ret_trouble->fault) == 0)
		return -EREMOTEIO;
	return stranger_tell(answer, sandbox, ret_trouble);
}

int call_run(struct call *call, const struct sandbox *sandbox, struct sandbox_trouble *ret_trouble)
{
	enum fetch_end end;

	call->watch = (struct fetch_watch){ on_head, on_body, on_wake };
	call->fetch.watch = &call->watch;
	call->fetch.url = buf_get_cstr(&call->path);
	end = fetch_run(&call->fetch, &call->answer);
	if (end != FETCH_DONE)
		return end_tell(call, sandbox, end, ret_trouble);
	if (!call->answer.is_framed && !call->is_end_by_close_fine)
		return trouble_set(ret_trouble, sandbox, -EPROTO,
			"the answer has no end that can be told from a cut");
	if (!call->is_good)
		return refusal_tell(call, sandbox, ret_trouble);
	return 0;
}

int call_json(struct call *call, const struct sandbox *sandbox, struct json **ret_json,
	struct sandbox_trouble *ret_trouble)
{
	AUTO_JSON struct json *parsed = NULL;
	struct fault fault;
	int r;

	call->type = "application/json";
	r = call_run(call, sandbox, ret_trouble);
	if (r < 0)
		return r;
	if (json_parse_ours(buf_get_slice(&call->body), &parsed, &fault) < 0)
		return trouble_set(ret_trouble, sandbox, -EPROTO, "%s", fault.text);
	if (json_kind_get(parsed) != JSON_KIND_OBJECT)
		return trouble_set(ret_trouble, sandbox, -EPROTO, "the answer is no JSON object");
	*ret_json = TAKE_PTR(parsed);
	return 0;
}
