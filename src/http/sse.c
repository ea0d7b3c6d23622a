/*
 * Theory of operation: events go into a ring from which the library's thread takes them
 * (http/library.c), sending a comment when none came for a while. A full ring makes the handler
 * wait; when the client takes nothing for limits.event_ms, or a long event more slowly than any
 * answer may be taken, it is cut off and counts as gone.
 */
#include "http/sse.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/macro.h"
#include "http/connection.h"
#include "http/handling.h"

#include <errno.h>
#include <strings.h>
#include <sys/socket.h>

/* True if one element of an Accept header is text/event-stream with no q of 0. */
static bool is_event_stream(struct str element)
{
	struct str type, parameters, q;

	(void)str_split_once(element, ';', &type, &parameters);
	type = str_trim(type);
	if (type.n != 17 || strncasecmp(type.p, "text/event-stream", 17) != 0)
		return false;
	q = str_trim(parameters);
	if (!str_starts(q, STR("q=0")))
		return true;
	for (size_t i = 3; i < q.n; i++) {
		if (q.p[i] != '.' && q.p[i] != '0')
			return true;
	}
	return false;
}

bool http_sse_is_accepted(const struct http_request *request)
{
	return sse_is_accepted(request->connection->head);
}

bool sse_is_accepted(const struct head *head)
{
	struct str rest, element;
	bool is_more = head_field_get(head, "accept", &rest);

	while (is_more) {
		is_more = str_split_once(rest, ',', &element, &rest);
		if (is_event_stream(element))
			return true;
	}
	return false;
}

void http_sse_start(struct http_request *request)
{
	struct answer *answer = &request->answer;
	bool is_taken;

	assert(!request->is_at_once); /* the library's thread sends meanwhile */
	(void)http_header_add(request, "X-Accel-Buffering", "no");
	http_respond(request, 200, "text/event-stream", STR(""));
	if (str_eq(http_method_get(request), STR("HEAD")))
		return;
	answer->kind = ANSWER_STREAM;
	request->stream.ring = xmalloc(HTTP_SSE_BUFFER_MAX);
	is_taken = exchange_answer(&request->exchange, request->is_body_whole);
	assert(is_taken); /* streams begin after the end of the body */
}

/* Copies what fits into the ring. Returns the bytes. The lock is held. */
static size_t ring_put(struct stream *stream, const char *p, size_t n)
{
	size_t end = (stream->start + stream->used) % HTTP_SSE_BUFFER_MAX;
	size_t room = MIN(HTTP_SSE_BUFFER_MAX - stream->used, HTTP_SSE_BUFFER_MAX - end);
	size_t put = MIN(n, room);

	memcpy(stream->ring + end, p, put);
	stream->used += put;
	return put;
}

/* Adds bytes to the stream, waiting for room, at most until until_us and limits.event_ms for each
 * step. Returns 0 or -EPIPE. */
static int stream_add(struct http_request *request, struct str bytes, usec_t until_us)
{
	usec_t wait_us = request->config->limits.event_ms * USEC_PER_MS;
	struct stream *stream = &request->stream;
	struct exchange *exchange = &request->exchange;
	usec_t at_us = MIN(until_us, clock_now_us() + wait_us);
	bool is_lost;

	pthread_mutex_lock(&exchange->lock);
	while (bytes.n > 0 && !stream->is_broken && !exchange->is_gone) {
		size_t put = ring_put(stream, bytes.p, bytes.n);

		bytes.p += put;
		bytes.n -= put;
		if (put > 0) {
			pthread_cond_broadcast(&exchange->changed);
			at_us = MIN(until_us, clock_now_us() + wait_us);
		} else if (!exchange_wait(exchange, at_us)) {
			stream->is_broken = true;
		}
	}
	is_lost = stream->is_broken || exchange->is_gone;
	pthread_mutex_unlock(&exchange->lock);
	if (is_lost)
		(void)shutdown(request->connection->fd, SHUT_RDWR);
	return is_lost ? -EPIPE : 0;
}

/* The bytes before the next CR LF, CR or LF, which leave *rest; *ret_is_last if there was none. */
static struct str line_take(struct str *rest, bool *ret_is_last)
{
	struct str line = *rest;
	size_t used;

	for (line.n = 0; line.n < rest->n; line.n++) {
		if (line.p[line.n] == '\r' || line.p[line.n] == '\n')
			break;
	}
	*ret_is_last = line.n == rest->n;
	used = line.n + (*ret_is_last ? 0 : 1);
	if (used < rest->n && rest->p[used - 1] == '\r' && rest->p[used] == '\n')
		used++;
	rest->p += used;
	rest->n -= used;
	return line;
}

int http_sse_event(struct http_request *request, const char *name, struct str data)
{
	const struct http_limits *limits = &request->config->limits;
	usec_t until_us = clock_now_us() + limits->event_ms * USEC_PER_MS +
			  data.n * USEC_PER_S / limits->answer_rate_bytes_per_s;
	bool is_last = false;
	int r;

	if (request->answer.kind != ANSWER_STREAM)
		return -EPIPE; /* HEAD */
	r = stream_add(request, STR("event: "), until_us);
	if (r == 0)
		r = stream_add(request, str_from(name), until_us);
	while (r == 0 && !is_last) {
		struct str line = line_take(&data, &is_last);

		r = stream_add(request, STR("\ndata: "), until_us);
		if (r == 0)
			r = stream_add(request, line, until_us);
	}
	return r < 0 ? r : stream_add(request, STR("\n\n"), until_us);
}

/* Waits until so many bytes fit into the ring. Returns 0, -EAGAIN or -EPIPE. */
static int room_wait(struct http_request *request, size_t size, usec_t until_us)
{
	struct stream *stream = &request->stream;
	struct exchange *exchange = &request->exchange;
	bool is_late = false;
	int r = 0;

	pthread_mutex_lock(&exchange->lock);
	while (!is_late && !stream->is_broken && !exchange->is_gone &&
		HTTP_SSE_BUFFER_MAX - stream->used < size)
		is_late = !exchange_wait(exchange, until_us);
	if (stream->is_broken || exchange->is_gone)
		r = -EPIPE;
	else if (HTTP_SSE_BUFFER_MAX - stream->used < size)
		r = -EAGAIN;
	pthread_mutex_unlock(&exchange->lock);
	return r;
}

int http_sse_offer(struct http_request *request, const char *name, struct str line, usec_t wait_us)
{
	const size_t frame = strlen("event: \ndata: \n\n") + strlen(name);
	int r;

	if (request->answer.kind != ANSWER_STREAM)
		return -EPIPE; /* HEAD */
	assert(line.n + frame <= HTTP_SSE_BUFFER_MAX);
	r = room_wait(request, line.n + frame, clock_now_us() + wait_us);
	return r < 0 ? r : http_sse_event(request, name, line);
}
