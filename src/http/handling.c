/*
 * Theory of operation: the story of one request, told straight: find the route, let admit judge,
 * fetch a JSON body, call the handler, hand the answer over. The answer leaves only after the
 * handler has returned (an event stream excepted), so that what the handler holds is free again
 * when the client hears of it.
 *
 * A handler that neither waits for a body nor streams events needs no thread beside the library's
 * or the worker's (http/workers.h): it has answered before these have anything else to do. So
 * /health and its like, and a run whose body came with its head, cost one thread less to start and
 * up to six wake-ups less to wait for on a busy machine.
 */
#include "http/handling.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "http/connection.h"
#include "http/gate.h"
#include "http/sse.h"

#include <errno.h>
#include <strings.h>

#define ALLOW_SIZE     64   /* bytes of an Allow header */
#define DIRECT_WAIT_MS 2000 /* for a client in mid-body to take an answer */

/* Decodes path and query of the target. Returns 0, or -EBADMSG with *ret_fault. */
static int target_decode(
	struct http_request *request, struct str *ret_path, struct fault *ret_fault)
{
	const struct head *head = request->connection->head;
	const char *wrong;
	int r;

	request->decoded = xmalloc(head->target.n + 1);
	r = path_decode(head->path, request->decoded, ret_path, &wrong);
	if (r == 0)
		r = query_decode(
			head->query, request->decoded + head->path.n, &request->query, &wrong);
	if (r < 0)
		fault_set(ret_fault, FAULT_BAD_REQUEST, "%s", wrong);
	return r;
}

static bool is_method_of(const struct http_route *route, struct str method)
{
	struct str own = str_from(route->method);

	return str_eq(method, own) || (str_eq(own, STR("GET")) && str_eq(method, STR("HEAD")));
}

/* Adds a route's methods to an Allow header; many routes of one path fit in ALLOW_SIZE. */
static void allow_add(char allow[ALLOW_SIZE], const struct http_route *route)
{
	char before[ALLOW_SIZE];

	(void)str_copy(before, sizeof(before), allow);
	if (str_format(allow, ALLOW_SIZE, "%s%s%s%s", before, before[0] ? ", " : "", route->method,
		    strcmp(route->method, "GET") == 0 ? ", HEAD" : "") < 0)
		(void)str_copy(allow, ALLOW_SIZE, before);
}

/* The rules of http/server.h for parameters. */
static int parameters_judge(const struct http_request *request, struct fault *ret_fault)
{
	for (size_t i = 0; i < request->parameters.n; i++) {
		const struct path_parameter *item = &request->parameters.items[i];
		bool is_rest = item->name.p[item->name.n] == '.';

		if (!is_rest && !utf8_is_valid(item->value.p, item->value.n)) {
			fault_set(ret_fault, FAULT_BAD_REQUEST, "%.*s in the path is not UTF-8.",
				STR_ARG(item->name));
			return -EBADMSG;
		}
		if (is_rest && item->value.n > HTTP_PATH_MAX) {
			fault_set(ret_fault, FAULT_URI_TOO_LONG, "%.*s is over %d bytes.",
				STR_ARG(item->name), HTTP_PATH_MAX);
			return -EBADMSG;
		}
	}
	return 0;
}

/* Finds the route. Returns 0, or -EBADMSG with *ret_fault (400, 404, 405, 414). */
static int route_find(struct http_request *request, struct fault *ret_fault)
{
	struct str method = http_method_get(request), path;
	char allow[ALLOW_SIZE] = "";
	int r = target_decode(request, &path, ret_fault);

	if (r < 0)
		return r;
	for (size_t i = 0; i < request->config->n_routes; i++) {
		const struct http_route *route = &request->config->routes[i];

		if (!path_match(route->pattern, path, &request->parameters))
			continue;
		if (is_method_of(route, method)) {
			request->route = route;
			return parameters_judge(request, ret_fault);
		}
		allow_add(allow, route);
	}
	if (allow[0]) {
		(void)http_header_add(request, "Allow", allow);
		fault_set(ret_fault, FAULT_METHOD_NOT_ALLOWED, "This path takes %s.", allow);
	} else {
		fault_set(ret_fault, FAULT_NOT_FOUND, "There is nothing of this path.");
		if (request->config->no_route_advice)
			fault_advise(ret_fault, "%s", request->config->no_route_advice);
	}
	return -EBADMSG;
}

/* application/json, with no parameter but charset=utf-8: what a form of a browser cannot send. */
static bool is_json(const struct http_request *request)
{
	struct str type, parameter;

	if (!http_header_get(request, "content-type", &type))
		return false;
	(void)str_split_once(type, ';', &type, &parameter);
	type = str_trim(type);
	parameter = str_trim(parameter);
	return type.n == 16 && strncasecmp(type.p, "application/json", 16) == 0 &&
	       (parameter.n == 0 ||
		       (parameter.n == 13 && strncasecmp(parameter.p, "charset=utf-8", 13) == 0));
}

/* Keeps bytes of a body that fits. Returns 0, -EDQUOT when config.take_body refuses, or -ENOMEM
 * when all bodies together have too much. */
static int body_add(struct http_request *request, struct str bytes)
{
	bool (*take)(struct http_request *, size_t) = request->config->take_body;
	int r;

	if (take && !take(request, bytes.n))
		return -EDQUOT;
	if (!gate_take_body(request->gate, bytes.n))
		return -ENOMEM;
	r = buf_add_slice(&request->body, bytes);
	assert(r == 0); /* http_body_read keeps to body_max */
	return 0;
}

/* Gets the whole body into memory. Returns 0, or the error of body_add or http_body_read. */
static int body_fetch(struct http_request *request)
{
	char chunk[8192];
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = http_body_read(request, chunk, sizeof(chunk))) != 0)
		r = n < 0 ? (int)n : body_add(request, (struct str){ chunk, (size_t)n });
	return r;
}

/* What the route wants of the body. False when the request has been answered. */
static bool body_prepare(struct http_request *request)
{
	uint64_t length = http_body_length_get(request);
	const struct http_route *route = request->route;
	struct fault fault;
	int r;

	if (route->body == HTTP_BODY_NONE)
		return true;
	if (route->body == HTTP_BODY_JSON && !is_json(request)) {
		fault_set(&fault, FAULT_UNSUPPORTED_MEDIA_TYPE,
			"Content-Type is not application/json.");
		http_respond_fault(request, &fault);
		return false;
	}
	if (length != HTTP_BODY_LENGTH_UNKNOWN && length > route->body_max) {
		http_respond_body_error(request, -EFBIG);
		return false;
	}
	if (route->body == HTTP_BODY_STREAM)
		return true;
	buf_init(&request->body, (size_t)route->body_max);
	r = body_fetch(request);
	if (r < 0)
		http_respond_body_error(request, r);
	return r == 0;
}

static void handle(struct http_request *request)
{
	const struct http_config *config = request->config;

	request->is_asked = config->admit != NULL;
	if (config->admit && !config->admit(request, request->route))
		return;
	if (body_prepare(request))
		request->route->handle(request);
}

/* Gives the answer to whoever sends it. */
static void deliver(struct http_request *request)
{
	struct exchange *exchange = &request->exchange;

	if (exchange_answer(exchange, request->is_body_whole))
		return;
	answer_send(&request->answer, request->connection->fd, DIRECT_WAIT_MS);
	gate_set_deadline(request->gate, request->connection,
		request->config->limits.linger_ms * USEC_PER_MS);
	exchange_answer_direct(exchange);
}

/* The stream has its last byte; the client has as long as for any answer to take what is left. */
static void stream_end(struct http_request *request)
{
	pthread_mutex_lock(&request->exchange.lock);
	request->stream.is_ended = true;
	pthread_cond_broadcast(&request->exchange.changed);
	pthread_mutex_unlock(&request->exchange.lock);
	gate_set_deadline(request->gate, request->connection,
		request->config->limits.answer_ms * USEC_PER_MS);
}

/* Handles the request, whose route is known, until it is answered. */
static void *handling_main(void *arg)
{
	struct http_request *request = arg;
	struct fault fault;

	handle(request);
	if (request->answer.kind == ANSWER_STREAM) {
		stream_end(request);
		return NULL;
	}
	if (request->answer.kind == ANSWER_NONE) {
		log_error("msg=\"handler has not answered\" request=%s", request->id);
		fault_set(&fault, FAULT_INTERNAL, "The request was not answered.");
		http_respond_fault(request, &fault);
	}
	deliver(request);
	return NULL;
}

/* Answers without a handler. */
static void refuse(struct http_request *request, const struct fault *fault)
{
	http_respond_fault(request, fault);
	(void)exchange_answer(&request->exchange, false);
}

/* Starts the thread of the handler. */
static void thread_start(struct http_request *request)
{
	struct fault fault;

	request->has_thread = thread_create(&request->thread, handling_main, request) == 0;
	if (request->has_thread)
		return;
	fault_set(&fault, FAULT_SERVER_BUSY, "The server has as many threads as it may.");
	refuse(request, &fault);
}

/* Nothing of the request is waited for, and its answer is one piece. */
static bool is_at_once(const struct http_request *request)
{
	const struct http_route *route = request->route;

	if (route->has_events)
		return false;
	return route->body == HTTP_BODY_NONE ||
	       (request->connection->body.p && !http_sse_is_accepted(request));
}

static void begin(struct http_request *request)
{
	struct fault fault;

	if (route_find(request, &fault) < 0)
		refuse(request, &fault);
	else if ((request->is_at_once = is_at_once(request)))
		(void)handling_main(request);
	else
		thread_start(request);
}

struct http_request *handling_new(
	const struct http_config *config, struct gate *gate, struct connection *connection)
{
	struct http_request *request = xcalloc(1, sizeof(*request));
	int r = id_make(request->id);

	assert(r == 0);
	request->config = config;
	request->gate = gate;
	request->connection = connection;
	request->start_us = clock_now_us();
	request->note = xcalloc(1, config->note_size > 0 ? config->note_size : 1);
	answer_init(&request->answer);
	exchange_init(&request->exchange);
	gate_count_request(gate);
	begin(request);
	return request;
}

void handling_free(struct http_request *request)
{
	char target[LOG_VALUE_MAX / 2];
	struct str whole = http_target_get(request);

	exchange_close(&request->exchange);
	if (request->has_thread)
		pthread_join(request->thread, NULL);
	if (str_format(target, sizeof(target), "%.*s", STR_ARG(whole)) < 0)
		(void)str_copy(target, sizeof(target), "...");
	log_info("msg=request request=%s method=%.*s target=%s status=%d ms=%llu peer=%s",
		request->id, STR_ARG(http_method_get(request)), LOG_VALUE(target),
		request->answer.status,
		(unsigned long long)((clock_now_us() - request->start_us) / USEC_PER_MS),
		LOG_VALUE(request->connection->peer.text));
	answer_fini(&request->answer);
	if (request->is_asked && request->config->release)
		request->config->release(request);
	exchange_fini(&request->exchange);
	gate_return_body(request->gate, request->body.len);
	buf_fini(&request->body);
	free(request->stream.ring);
	free(request->decoded);
	free(request->note);
	free(request);
}
