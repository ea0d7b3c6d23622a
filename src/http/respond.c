/*
 * Theory of operation: fills the request's answer; http/handling.c sends it when the handler has
 * returned. A second answer is a mistake of the handler and asserted.
 */
#include "http/respond.h"

#include "base/assert.h"
#include "base/fault.h"
#include "base/fd.h"
#include "http/connection.h"
#include "http/handling.h"
#include "http/problem.h"
#include "http/syntax/range.h"

#include <errno.h>
#include <sys/stat.h>

int http_header_add(struct http_request *request, const char *name, const char *value)
{
	return answer_header_add(&request->answer, name, value);
}

/* Begins the answer with the headers that all have. */
static struct answer *answer_begin(struct http_request *request, enum answer_kind kind, int status)
{
	struct answer *answer = &request->answer;

	assert(answer->kind == ANSWER_NONE);
	answer->kind = kind;
	answer->status = status;
	(void)answer_header_add(answer, "Connection", "close");
	(void)answer_header_add(answer, "X-Request-Id", request->id);
	(void)answer_header_add(answer, "X-Content-Type-Options", "nosniff");
	if (!answer_header_has(answer, "Cache-Control"))
		(void)answer_header_add(answer, "Cache-Control", "no-store");
	return answer;
}

void http_respond(struct http_request *request, int status, const char *mime, struct str body)
{
	struct answer *answer = answer_begin(request, ANSWER_BYTES, status);
	int r = buf_add_slice(&answer->body, body);

	assert(r == 0); /* answers have limits of their own, far below ANSWER_BODY_MAX */
	(void)answer_header_add(answer, "Content-Type", mime);
}

void http_respond_take(struct http_request *request, int status, const char *mime, struct buf *body)
{
	struct answer *answer = answer_begin(request, ANSWER_BYTES, status);

	answer->body = *body;
	buf_init(body, 0);
	(void)answer_header_add(answer, "Content-Type", mime);
}

void http_respond_json(struct http_request *request, int status, struct str json)
{
	http_respond(request, status, "application/json", json);
}

void http_respond_empty(struct http_request *request, int status)
{
	(void)answer_begin(request, ANSWER_BYTES, status);
}

void http_respond_fault(struct http_request *request, const struct fault *fault)
{
	AUTO_BUF struct buf text = BUF_INIT(PROBLEM_SIZE_MAX);
	int status = fault_status(fault->code);
	int r = problem_write(fault, &text);

	assert(r == 0);
	if ((status == 429 || status == 503) && !answer_header_has(&request->answer, "Retry-After"))
		(void)http_header_add(request, "Retry-After", "1");
	if (status == 401 && !answer_header_has(&request->answer, "WWW-Authenticate"))
		(void)http_header_add(request, "WWW-Authenticate", "Bearer");
	http_respond(request, status, "application/problem+json", buf_get_slice(&text));
}

void http_respond_body_error(struct http_request *request, int error)
{
	struct fault fault;

	if (error == -EFBIG)
		fault_set(&fault, FAULT_TOO_LARGE, "The body is over %llu bytes.",
			(unsigned long long)request->route->body_max);
	else if (error == -EDQUOT)
		fault_set(&fault, FAULT_SANDBOX_BUSY,
			"This tenant has too many bytes of bodies under way.");
	else if (error == -ENOMEM)
		fault_set(&fault, FAULT_SERVER_BUSY, "Too many large bodies at once.");
	else if (error == -ETIMEDOUT)
		fault_set(&fault, FAULT_REQUEST_TIMEOUT, "The body did not come in time.");
	else
		fault_set(&fault, FAULT_BAD_REQUEST, "The body was cut short.");
	/* Closing a session, as the code advises, would not help. */
	if (error == -EDQUOT || error == -ENOMEM)
		fault_advise(
			&fault, "Send fewer at once, or smaller ones: a file goes by PUT instead.");
	http_respond_fault(request, &fault);
}

/* 416 with the size, as RFC 9110 section 15.5.17 asks for. */
static void respond_unsatisfiable(struct http_request *request, uint64_t size)
{
	char value[48];
	struct fault fault;
	int r = str_format(value, sizeof(value), "bytes */%llu", (unsigned long long)size);

	assert(r == 0);
	(void)http_header_add(request, "Content-Range", value);
	fault_set(&fault, FAULT_RANGE_NOT_SATISFIABLE, "The file has %llu bytes.",
		(unsigned long long)size);
	http_respond_fault(request, &fault);
}

/* What of the file is asked for. Ranges are defined for GET only (RFC 9110 section 14.2). */
static enum range range_get(const struct http_request *request, uint64_t size, uint64_t *ret_first,
	uint64_t *ret_length)
{
	struct str header, condition;

	*ret_first = 0;
	*ret_length = size;
	if (!str_eq(http_method_get(request), STR("GET")) ||
		!http_header_get(request, "range", &header) ||
		http_header_get(request, "if-range", &condition))
		return RANGE_WHOLE;
	return range_parse(header, size, ret_first, ret_length);
}

static void content_range_add(struct http_request *request, uint64_t size)
{
	const struct answer *answer = &request->answer;
	char value[96];
	int r = str_format(value, sizeof(value), "bytes %llu-%llu/%llu",
		(unsigned long long)answer->first,
		(unsigned long long)(answer->first + answer->length - 1), (unsigned long long)size);

	assert(r == 0);
	(void)http_header_add(request, "Content-Range", value);
}

void http_respond_file(struct http_request *request, int fd, const char *mime)
{
	AUTO_CLOSE int file = fd;
	struct stat st;
	struct fault fault;
	struct answer *answer;
	uint64_t first, length;
	enum range range;

	assert(request->route->has_file);
	if (fstat(file, &st) < 0 || !S_ISREG(st.st_mode)) {
		fault_set(&fault, FAULT_NOT_FOUND, "This is no regular file.");
		http_respond_fault(request, &fault);
		return;
	}
	range = range_get(request, (uint64_t)st.st_size, &first, &length);
	(void)http_header_add(request, "Accept-Ranges", "bytes");
	if (range == RANGE_UNSATISFIABLE) {
		respond_unsatisfiable(request, (uint64_t)st.st_size);
		return;
	}
	answer = answer_begin(request, ANSWER_FILE, range == RANGE_PART ? 206 : 200);
	answer->fd = TAKE_FD(file);
	answer->first = first;
	answer->length = length;
	(void)answer_header_add(answer, "Content-Type", mime);
	if (range == RANGE_PART)
		content_range_add(request, (uint64_t)st.st_size);
}
