#include "supervisor/api.h"

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

struct supervisor *supervisor_of(const struct http_request *request)
{
	const char *config = (const char *)http_config_get(request);

	/* The request sees its configuration only; we know where it lies. */
	return (struct supervisor *)(uintptr_t)(config - offsetof(struct supervisor, http));
}

void api_respond(struct http_request *request, int status, struct json *body)
{
	if (claim_answer(request, json_measure(body)))
		api_respond_claimed(request, status, body);
	else
		json_free(body);
}

void api_respond_claimed(struct http_request *request, int status, struct json *body)
{
	AUTO_JSON struct json *tree = body;
	AUTO_BUF struct buf text = BUF_INIT(json_measure(tree));

	(void)json_write(tree, &text);
	claim_settle(request, text.len);
	http_respond_take(request, status, "application/json", &text);
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
