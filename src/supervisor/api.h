#pragma once

#include "base/id.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault;
struct http_request;
struct json;

/* The handlers of the routes (supervisor/routes.c), and what they share. */

void api_run(struct http_request *request);
void api_run_cancel(struct http_request *request);

void api_session_get(struct http_request *request);
void api_session_list(struct http_request *request);
void api_session_close(struct http_request *request);
void api_session_stop(struct http_request *request);
void api_session_export(struct http_request *request);
void api_session_import(struct http_request *request);

void api_file_list(struct http_request *request);
void api_file_get(struct http_request *request);
void api_file_put(struct http_request *request);
void api_file_remove(struct http_request *request);

void api_health(struct http_request *request);
void api_ready(struct http_request *request);
void api_metrics(struct http_request *request);
void api_info(struct http_request *request);
void api_openapi(struct http_request *request);

/* Answers with the tree, which is freed; or with 429 or 503, when too many answers are on their
 * way. */
void api_respond(struct http_request *request, int status, struct json *body);

/* The same for a tree whose memory was claimed before it was made (supervisor/claim.h). */
void api_respond_claimed(struct http_request *request, int status, struct json *body);

/* What a PUT asks of the session that it may open: ?profile= and ?policy=, into texts of the
 * caller's. names: all fields that its query may have, for http_query_check. Returns 0, or -EINVAL
 * with *ret_fault. */
struct api_opening {
	char profile[64], policy[16];
};
struct files_upload_request;
int api_opening_get(const struct http_request *request, const char *const *names,
	struct api_opening *texts, struct files_upload_request *upload, struct fault *ret_fault);

/* Hands the body to take, block by block. take: 0, or below 0 with *ret_fault. Returns 0 with the
 * body's size; a value below 0 after it was answered. */
int api_body_move(struct http_request *request,
	int (*take)(void *ctx, const void *data, size_t size, struct fault *ret_fault), void *ctx,
	uint64_t *ret_size);

/* Answers with the fault; where no place was free, with when one may be. */
void api_respond_busy(struct http_request *request, const struct fault *fault);

/* Sets a time of the real clock: RFC 3339 with milliseconds, or null where there is none. */
void api_time_set(struct json *object, const char *name, int64_t ns);

/* The {key} of the route as a string. False after it was answered with 400: no session key. */
bool api_key_get(struct http_request *request, char ret_key[ID_KEY_MAX + 1]);
