/*
 * Theory of operation: a handler sees the head that the gate has judged (http/syntax/head.h), never
 * the library's own reading of it; of the library comes the body alone, through
 * http/exchange/exchange.h.
 */
#include "http/request.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/macro.h"
#include "base/utf8.h"
#include "http/connection.h"
#include "http/handling.h"
#include "http/server_state.h"

#include <errno.h>
#include <poll.h>

struct str http_method_get(const struct http_request *request)
{
	return request->connection->head->method;
}

struct str http_target_get(const struct http_request *request)
{
	return request->connection->head->target;
}

const char *http_id_get(const struct http_request *request)
{
	return request->id;
}

const struct http_peer *http_peer_get(const struct http_request *request)
{
	return &request->connection->peer;
}

const struct http_config *http_config_get(const struct http_request *request)
{
	return request->config;
}

struct http_server *http_server_get(const struct http_request *request)
{
	return container_of(request->gate, struct http_server, gate);
}

void *http_note_get(struct http_request *request)
{
	return request->note;
}

/* The value of `name` among n items; NULL if it is not there. */
static const struct str *item_get(const struct path_parameter *items, size_t n, const char *name)
{
	struct str wanted = str_from(name);

	for (size_t i = 0; i < n; i++) {
		if (str_eq(items[i].name, wanted))
			return &items[i].value;
	}
	return NULL;
}

struct str http_parameter_get(const struct http_request *request, const char *name)
{
	const struct path_parameters *parameters = &request->parameters;
	const struct str *value = item_get(parameters->items, parameters->n, name);

	assert(value);
	return *value;
}

bool http_query_get(const struct http_request *request, const char *name, struct str *ret_value)
{
	const struct str *value = item_get(request->query.items, request->query.n, name);

	if (value)
		*ret_value = *value;
	return value;
}

int http_query_check(
	const struct http_request *request, const char *const *names, struct fault *ret_fault)
{
	for (size_t i = 0; i < request->query.n; i++) {
		struct str name = request->query.items[i].name;
		AUTO_BUF struct buf known = BUF_INIT(sizeof(ret_fault->text));
		char field[sizeof(ret_fault->field)] = "";
		bool is_known = false;

		for (size_t k = 0; names[k]; k++) {
			is_known |= str_eq(name, str_from(names[k]));
			(void)buf_addf(&known, "%s%s", k > 0 ? ", " : "", names[k]);
		}
		if (is_known)
			continue;
		name.n = MIN(name.n, sizeof(field) - 1);
		(void)str_format(field, sizeof(field), "%.*s", STR_ARG(name));
		utf8_clean(field);
		fault_set_field(ret_fault, field, "there is no such field in the query%s%s",
			names[0] ? "; there are: " : " here", buf_get_cstr(&known));
		fault_advise(ret_fault, "Mend the field's name, or leave %s out.", field);
		return -EINVAL;
	}
	return 0;
}

bool http_header_get(const struct http_request *request, const char *name, struct str *ret_value)
{
	return head_field_get(request->connection->head, name, ret_value);
}

struct str http_body_get(const struct http_request *request)
{
	return buf_get_slice(&request->body);
}

uint64_t http_body_length_get(const struct http_request *request)
{
	const struct head *head = request->connection->head;

	return head->is_chunked ? HTTP_BODY_LENGTH_UNKNOWN : head->length;
}

/* How long the client may still be waited for. */
static usec_t wait_left_us(const struct http_request *request)
{
	const struct http_limits *limits = &request->config->limits;
	usec_t all_us = limits->body_ms * USEC_PER_MS +
			request->body_read_bytes * USEC_PER_S / limits->body_rate_bytes_per_s;

	return all_us > request->body_waited_us ? all_us - request->body_waited_us : 0;
}

/* Of a body that came with its head. */
static ssize_t body_copy(const struct http_request *request, void *data, size_t size)
{
	struct str body = request->connection->body;
	size_t n = MIN(size, body.n - request->body_read_bytes);

	memcpy(data, body.p + request->body_read_bytes, n);
	return (ssize_t)n;
}

ssize_t http_body_read(struct http_request *request, void *data, size_t size)
{
	uint64_t max = request->route->body_max;
	ssize_t n;

	assert(request->route->body != HTTP_BODY_NONE && size > 0);
	n = request->connection->body.p ? body_copy(request, data, size)
					: exchange_read(&request->exchange, data, size,
						  wait_left_us(request), &request->body_waited_us);
	if (n < 0)
		return n;
	if ((uint64_t)n > max - request->body_read_bytes)
		return -EFBIG;
	request->body_read_bytes += (uint64_t)n;
	request->is_body_whole =
		n == 0 || request->body_read_bytes == http_body_length_get(request);
	return n;
}

bool http_is_gone(const struct http_request *request)
{
	struct pollfd ends = { .fd = request->connection->fd, .events = POLLRDHUP };

	return poll(&ends, 1, 0) > 0;
}

int http_client_fd_get(const struct http_request *request)
{
	return request->connection->fd;
}
