#include "supervisor/api.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/macro.h"
#include "house/house.h"
#include "http/request.h"
#include "http/respond.h"
#include "supervisor/claim.h"
#include "supervisor/supervisor.h"
#include "json/json.h"

#include <time.h>

#define BLOCK_SIZE (64u * 1024) /* of a body that is moved */

struct supervisor *supervisor_of(const struct http_request *request)
{
	const char *config = (const char *)http_config_get(request);

	/* The request sees its configuration only; we know where it lies. */
	return (struct supervisor *)(uintptr_t)(config - offsetof(struct supervisor, http));
}

/* size: of the body as text, which takes as long to measure as to write. */
static void respond(struct http_request *request, int status, const struct json *body, size_t size)
{
	AUTO_BUF struct buf text = BUF_INIT(size);

	(void)json_write(body, &text);
	claim_settle(request, text.len);
	http_respond_take(request, status, "application/json", &text);
}

void api_respond(struct http_request *request, int status, struct json *body)
{
	AUTO_JSON struct json *tree = body;
	size_t size = json_measure(tree);

	if (claim_answer(request, size))
		respond(request, status, tree, size);
}

void api_respond_claimed(struct http_request *request, int status, struct json *body)
{
	AUTO_JSON struct json *tree = body;

	respond(request, status, tree, json_measure(tree));
}

int api_body_move(struct http_request *request,
	int (*take)(void *ctx, const void *data, size_t size, struct fault *ret_fault), void *ctx,
	uint64_t *ret_size)
{
	AUTO_FREE char *block = xmalloc(BLOCK_SIZE);
	struct fault fault;
	uint64_t size = 0;
	ssize_t n;

	while ((n = http_body_read(request, block, BLOCK_SIZE)) > 0) {
		int r = take(ctx, block, (size_t)n, &fault);

		if (r < 0) {
			http_respond_fault(request, &fault);
			return r;
		}
		size += (uint64_t)n;
	}
	if (n < 0)
		http_respond_body_error(request, (int)n);
	*ret_size = size;
	return n < 0 ? (int)n : 0;
}

void api_respond_busy(struct http_request *request, const struct fault *fault)
{
	char seconds[16];

	if (fault->code == FAULT_SANDBOX_BUSY) {
		(void)str_format(seconds, sizeof(seconds), "%u",
			house_retry_after_s(supervisor_of(request)->house));
		http_header_add(request, "Retry-After", seconds);
	}
	http_respond_fault(request, fault);
}

void api_time_set(struct json *object, const char *name, int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;
	char text[40];
	size_t n;

	if (ns < 0 || !gmtime_r(&seconds, &tm)) {
		json_set_null(object, name);
		return;
	}
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	(void)str_format(text + n, sizeof(text) - n, ".%03dZ", (int)(ns % 1000000000 / 1000000));
	json_set_cstr(object, name, text);
}

bool api_key_get(struct http_request *request, char ret_key[ID_KEY_MAX + 1])
{
	struct str key = http_parameter_get(request, "key");
	struct fault fault;

	if (id_key_is_valid(key.p, key.n)) {
		(void)str_format(ret_key, ID_KEY_MAX + 1, "%.*s", STR_ARG(key));
		return true;
	}
	fault_set(&fault, FAULT_BAD_REQUEST,
		"a session's key is 1 to %d of A-Z a-z 0-9 . _ : - and neither . nor ..",
		ID_KEY_MAX);
	http_respond_fault(request, &fault);
	return false;
}
