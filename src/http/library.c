/*
 * Theory of operation: libmicrohttpd gets no listening socket; MHD_add_connection brings it sockets
 * whose heads have been judged. For each it runs a thread (MHD_USE_THREAD_PER_CONNECTION) that may
 * block in our callbacks, which is what http/exchange/exchange.h is for. Of what the library reads
 * only the body is used; of what it could do, its sending.
 *
 * Traps of 0.9.75, all seen in its source:
 * - Its connection timeout counts the time that our callbacks take, and would cut answers that were
 *   long in the making: it stays off, the gate has deadlines of its own.
 * - A response from a descriptor whose file has become shorter makes it spin for ever: sendfile
 *   gives 0, which it takes for progress. We give it a reader callback, which ends the connection.
 * - It takes no answer in the middle of a body (http/handling.c then sends it itself), and answers
 *   malformed chunks with a page of its own (400, HTML).
 * - It tells its NOTIFY_CONNECTION callback of the end before it closes the descriptor: the number
 *   is still ours in gate_release.
 */
#include "http/library.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/thread.h"
#include "http/connection.h"
#include "http/handling.h"
#include "http/server_state.h"
#include "http/sse.h"

#include <errno.h>
#include <microhttpd.h>

#define MEMORY_SIZE                                                                                \
	((size_t)128 * 1024) /* bytes of a connection, mapped and mostly untouched: half           \
				is the read buffer, which must hold HEAD_MAX */
#define FILE_BLOCK  ((size_t)64 * 1024) /* bytes that a download holds in memory */
#define EVENT_BLOCK 4096

/* Bytes of a file. MHD_ContentReaderCallback. */
static ssize_t read_file(void *context, uint64_t position, char *out, size_t max)
{
	const struct http_request *request = context;
	const struct answer *answer = &request->answer;
	size_t n = (size_t)MIN((uint64_t)max, answer->length - position);
	ssize_t got;

	do
		got = pread(answer->fd, out, n, (off_t)(answer->first + position));
	while (got < 0 && errno == EINTR);
	return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
}

/* Takes at most max bytes out of the ring. The lock is held. */
static size_t ring_take(struct stream *stream, char *out, size_t max)
{
	size_t here = MIN(stream->used, HTTP_SSE_BUFFER_MAX - stream->start);
	size_t n = MIN(here, max);

	memcpy(out, stream->ring + stream->start, n);
	stream->start = (stream->start + n) % HTTP_SSE_BUFFER_MAX;
	stream->used -= n;
	return n;
}

/* Bytes of an event stream, or a comment line after a silence. MHD_ContentReaderCallback. */
static ssize_t read_stream(void *context, uint64_t position, char *out, size_t max)
{
	struct http_request *request = context;
	struct exchange *exchange = &request->exchange;
	struct stream *stream = &request->stream;
	usec_t at_us = clock_now_us() + request->config->limits.comment_ms * USEC_PER_MS;
	ssize_t n;

	(void)position;
	assert(max >= 3);
	pthread_mutex_lock(&exchange->lock);
	while (stream->used == 0 && !stream->is_ended && !stream->is_broken) {
		if (!exchange_wait(exchange, at_us))
			break;
	}
	if (stream->is_broken) {
		n = MHD_CONTENT_READER_END_WITH_ERROR;
	} else if (stream->used > 0) {
		n = (ssize_t)ring_take(stream, out, max);
		pthread_cond_broadcast(&exchange->changed);
	} else if (stream->is_ended) {
		n = MHD_CONTENT_READER_END_OF_STREAM;
	} else {
		n = 3;
		memcpy(out, ":\n\n", 3);
	}
	pthread_mutex_unlock(&exchange->lock);
	return n;
}

static struct MHD_Response *response_new(struct http_request *request)
{
	struct answer *answer = &request->answer;
	struct MHD_Response *response = NULL;

	switch (answer->kind) {
	case ANSWER_BYTES: /* lives until handling_free, after the library's last use */
		response = MHD_create_response_from_buffer(
			answer->body.len, answer->body.data, MHD_RESPMEM_PERSISTENT);
		break;
	case ANSWER_FILE:
		response = MHD_create_response_from_callback(
			answer->length, FILE_BLOCK, read_file, request, NULL);
		break;
	case ANSWER_STREAM:
		response = MHD_create_response_from_callback(
			MHD_SIZE_UNKNOWN, EVENT_BLOCK, read_stream, request, NULL);
		break;
	case ANSWER_NONE:
		unreachable_();
	}
	for (size_t i = 0; i < answer->n_headers && response; i++)
		(void)MHD_add_response_header(
			response, answer->headers[i].name, answer->headers[i].value);
	return response;
}

/* Sends the request's answer. */
static enum MHD_Result answer_queue(struct http_request *request, struct MHD_Connection *library)
{
	const struct http_limits *limits = &request->config->limits;
	const struct answer *answer = &request->answer;
	struct MHD_Response *response = response_new(request);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	if (answer->kind != ANSWER_STREAM)
		gate_set_deadline(
			request->gate, request->connection, answer_time_us(answer, limits));
	result = MHD_queue_response(library, (unsigned)answer->status, response);
	MHD_destroy_response(response);
	return result;
}

/* A head has come. */
static enum MHD_Result on_head(
	struct http_server *server, struct MHD_Connection *library, void **context)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(library, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct connection *connection = info ? info->socket_context : NULL;
	struct http_request *request;

	if (!connection || connection->has_request)
		return MHD_NO; /* given up by the gate, or a second request */
	connection->has_request = true;
	gate_set_deadline(&server->gate, connection, 0);
	request = handling_new(server->config, &server->gate, connection);
	*context = request;
	return exchange_begin(&request->exchange) ? answer_queue(request, library) : MHD_YES;
}

/* MHD_AccessHandlerCallback: the head, then pieces of the body, then its end. */
static enum MHD_Result on_access(void *context, struct MHD_Connection *library, const char *url,
	const char *method, const char *version, const char *data, size_t *data_size,
	void **request_at)
{
	struct http_request *request = *request_at;

	(void)url;
	(void)method;
	(void)version;
	if (!request)
		return on_head(context, library, request_at);
	if (*data_size > 0) {
		size_t n = *data_size;

		*data_size = 0;
		return exchange_offer(&request->exchange, data, n) ? MHD_YES : MHD_NO;
	}
	return exchange_end(&request->exchange) ? answer_queue(request, library) : MHD_NO;
}

/* MHD_RequestCompletedCallback: in the connection's thread, before its socket is shut down. */
static void on_completed(void *context, struct MHD_Connection *library, void **request_at,
	enum MHD_RequestTerminationCode code)
{
	(void)context;
	(void)library;
	(void)code;
	if (*request_at)
		handling_free(*request_at);
	*request_at = NULL;
}

/* MHD_NotifyConnectionCallback */
static void on_connection(void *context, struct MHD_Connection *library, void **connection_at,
	enum MHD_ConnectionNotificationCode code)
{
	struct http_server *server = context;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		info = MHD_get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD);
		*connection_at = info ? gate_find(&server->gate, info->connect_fd) : NULL;
	} else if (*connection_at) {
		gate_release(&server->gate, *connection_at);
		*connection_at = NULL;
	}
}

/* The library's own decoding is not used, and cuts strings at %00: leave them as they are. */
static size_t unescape_nothing(void *context, struct MHD_Connection *library, char *text)
{
	(void)context;
	(void)library;
	return strlen(text);
}

_Noreturn static void on_panic(void *context, const char *file, unsigned line, const char *why)
{
	(void)context;
	log_error("msg=\"libmicrohttpd gave up\" file=%s line=%u why=%s", LOG_VALUE(file), line,
		LOG_VALUE(why));
	abort();
}

struct MHD_Daemon *library_start(struct http_server *server)
{
	const unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
			       MHD_USE_POLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC;

	MHD_set_panic_func(on_panic, NULL);
	/* Twice as many as the gate lets in: one that it gave up is counted until it is cleaned up.
	 */
	return MHD_start_daemon(flags, 0, NULL, NULL, on_access, server,
		MHD_OPTION_CONNECTION_LIMIT, 2 * server->config->limits.served_max,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY_SIZE, MHD_OPTION_THREAD_STACK_SIZE,
		THREAD_STACK_SIZE, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK,
		unescape_nothing, NULL, MHD_OPTION_END);
}
