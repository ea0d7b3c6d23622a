#pragma once

#include "base/id.h"
#include "base/str.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fault;
struct http_config;
struct http_request;
struct http_server;

/*
 * What a handler may ask of its request. All slices live until the handler returns. A request
 * belongs to its handler's thread: other threads may call http_is_gone and http_client_fd_get only.
 */

#define HTTP_BODY_LENGTH_UNKNOWN UINT64_MAX

struct http_peer {
	bool is_unix; /* connected over a unix socket */
	uid_t uid;    /* of the process that connected, by SO_PEERCRED; (uid_t)-1 over TCP */
	char text[INET6_ADDRSTRLEN + 8]; /* for logs: "unix", "127.0.0.1:4711", "[::1]:4711" */
};

/* "GET", "HEAD", "PUT" ...; the target as it came ("/v1/info?x=1"), for logs only. */
struct str http_method_get(const struct http_request *request);
struct str http_target_get(const struct http_request *request);

/* ID_LEN characters, random, for log lines; sent back as X-Request-Id. */
const char *http_id_get(const struct http_request *request);

const struct http_peer *http_peer_get(const struct http_request *request);
const struct http_config *http_config_get(const struct http_request *request);

/* The server itself, for http_server_stats in a handler. */
struct http_server *http_server_get(const struct http_request *request);

/* config.note_size bytes, zeroed: what admit found out for the handler. Freed with the request:
 * what it points to is not. */
void *http_note_get(struct http_request *request);

/* The decoded parameter of the route's pattern, by its name without braces and dots. Asserts that
 * the pattern has it. */
struct str http_parameter_get(const struct http_request *request, const char *name);

/* The decoded value of a query field ("+" is a space; application/x-www-form-urlencoded), bytes
 * without NUL. False if it is not there. Malformed queries, a name that comes twice and more than
 * 16 fields have been refused with 400. */
bool http_query_get(const struct http_request *request, const char *name, struct str *ret_value);

/* Refuses fields of the query but names, which ends with NULL: a misspelt one asks for something
 * that would silently not be done. Returns 0, or -EINVAL with *ret_fault. */
int http_query_check(
	const struct http_request *request, const char *const *names, struct fault *ret_fault);

/* A header's value without spaces at its ends; the name in any case. Of a field that comes twice,
 * the first. False if it is not there. */
bool http_header_get(const struct http_request *request, const char *name, struct str *ret_value);

/* The whole body of a HTTP_BODY_JSON route: bytes, not parsed. */
struct str http_body_get(const struct http_request *request);

/* Content-Length of a HTTP_BODY_STREAM route, 0 without a body, HTTP_BODY_LENGTH_UNKNOWN when it is
 * chunked. */
uint64_t http_body_length_get(const struct http_request *request);

/*
 * Reads up to size bytes of the body of a HTTP_BODY_STREAM route, waiting for them (constant
 * memory; the client's 100-continue is sent by the first call). Returns the bytes, 0 at the end,
 * or -ETIMEDOUT (slower than the limits), -EFBIG (over body_max), -ECONNRESET (the client is gone)
 * after which the handler drops what it has and calls http_respond_body_error.
 */
ssize_t http_body_read(struct http_request *request, void *data, size_t size);

/* True when the client has hung up or closed its sending half, or the server stops. */
bool http_is_gone(const struct http_request *request);

/* The connection, to wait in poll(2) with events POLLRDHUP: POLLRDHUP, POLLHUP or POLLERR says that
 * the client is gone. Never read, write or close it; shutdown(2) ends the request from any thread
 * until config.release has been called. */
int http_client_fd_get(const struct http_request *request);
