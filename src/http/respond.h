#pragma once

#include "base/str.h"

struct buf;
struct fault;
struct http_request;

/*
 * The one answer of a handler. Exactly one call of http_respond* or http_sse_start for each
 * request; a handler that returns without has answered 500. Nothing here fails: a client that does
 * not take its answer has lost it. Every answer has Date, Connection: close, X-Request-Id,
 * X-Content-Type-Options: nosniff and Cache-Control: no-store.
 */

#define HTTP_ANSWER_HEADERS_MAX 8 /* added by http_header_add */

/* Adds a header to the answer to come; the name is a literal of ours. Returns 0, or -EINVAL for a
 * value with a control character, which could become a header of its own: nothing is added then. */
int http_header_add(struct http_request *request, const char *name, const char *value);

/* Answers with a body of this type; the bytes are copied. For HEAD they are counted only. */
void http_respond(struct http_request *request, int status, const char *mime, struct str body);

/* The same for a whole buffer, which is taken over and empty then. */
void http_respond_take(
	struct http_request *request, int status, const char *mime, struct buf *body);

/* The same for JSON that was written with json_write. */
void http_respond_json(struct http_request *request, int status, struct str json);

/* Answers without a body: 201, 202, 204. */
void http_respond_empty(struct http_request *request, int status);

/* Answers with the fault's status and application/problem+json (http/problem.h). SANDBOX_BUSY and
 * SANDBOX_UNAVAILABLE get Retry-After: 1 unless the handler added one. */
void http_respond_fault(struct http_request *request, const struct fault *fault);

/* After http_body_read returned error (< 0): 408, 413, or 400 for whoever is still there. */
void http_respond_body_error(struct http_request *request, int error);

/*
 * Answers with a regular file, from its descriptor (taken over, closed in every case; the position
 * is not used): 200, 206 for a single range of bytes, 416; HEAD; Content-Length from fstat. Sent in
 * blocks of 64 KiB; if the file shrinks meanwhile the connection ends short of it. Several
 * ranges, other units and If-Range give the whole file, as RFC 9110 section 14.2 allows. What is no
 * regular file is 404.
 */
void http_respond_file(struct http_request *request, int fd, const char *mime);
