/*
 * Theory of operation: a plain description of a response that two senders understand: libmicrohttpd
 * in the usual case, and answer_send, for a worker's and for answers to a request whose body has
 * not ended.
 */
#include "http/answer.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "http/server.h"
#include "http/syntax/date.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>

void answer_init(struct answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	buf_init(&answer->body, ANSWER_BODY_MAX);
	answer->fd = -1;
}

void answer_fini(struct answer *answer)
{
	for (size_t i = 0; i < answer->n_headers; i++)
		free(answer->headers[i].value);
	buf_fini(&answer->body);
	answer->fd = fd_close(answer->fd);
}

int answer_header_add(struct answer *answer, const char *name, const char *value)
{
	assert(answer->n_headers < ANSWER_HEADERS_MAX);
	for (const char *p = value; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return -EINVAL;
	}
	answer->headers[answer->n_headers++] = (struct answer_header){ name, xstrdup(value) };
	return 0;
}

bool answer_header_has(const struct answer *answer, const char *name)
{
	for (size_t i = 0; i < answer->n_headers; i++) {
		if (strcasecmp(answer->headers[i].name, name) == 0)
			return true;
	}
	return false;
}

uint64_t answer_size(const struct answer *answer)
{
	return answer->kind == ANSWER_FILE ? answer->length : answer->body.len;
}

usec_t answer_time_us(const struct answer *answer, const struct http_limits *limits)
{
	return limits->answer_ms * USEC_PER_MS +
	       answer_size(answer) * USEC_PER_S / limits->answer_rate_bytes_per_s;
}

static int head_format(const struct answer *answer, struct buf *out)
{
	char date[DATE_SIZE];
	int r;

	date_format(date);
	r = buf_addf(out, "HTTP/1.1 %d %s\r\nDate: %s\r\n", answer->status,
		MHD_get_reason_phrase_for((unsigned)answer->status), date);
	for (size_t i = 0; i < answer->n_headers && r == 0; i++)
		r = buf_addf(out, "%s: %s\r\n", answer->headers[i].name, answer->headers[i].value);
	if (r == 0 && answer->status != 204) /* RFC 9110 s8.6 */
		r = buf_addf(out, "Content-Length: %zu\r\n", answer->body.len);
	return r < 0 ? r : buf_add_str(out, "\r\n");
}

static void parts_advance(struct iovec parts[2], size_t sent)
{
	for (int i = 0; i < 2; i++) {
		size_t n = MIN(sent, parts[i].iov_len);

		parts[i].iov_base = (char *)parts[i].iov_base + n;
		parts[i].iov_len -= n;
		sent -= n;
	}
}

/* MSG_MORE: the last bytes go with the end of the connection, so that whoever reads until then is
 * woken once. */
static int send_all(int fd, struct iovec parts[2], int wait_ms)
{
	const struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	while (parts[0].iov_len + parts[1].iov_len > 0) {
		struct pollfd ready = { .fd = fd, .events = POLLOUT };
		ssize_t sent = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno == EAGAIN && poll(&ready, 1, wait_ms) > 0)
			continue;
		if (sent < 0)
			return -EPIPE;
		parts_advance(parts, (size_t)sent);
	}
	return 0;
}

void answer_send(const struct answer *answer, int fd, int wait_ms)
{
	AUTO_BUF struct buf head = BUF_INIT(ANSWER_HEAD_MAX);
	struct iovec parts[2];
	int r;

	assert(answer->kind == ANSWER_BYTES);
	r = head_format(answer, &head);
	assert(r == 0);
	parts[0] = (struct iovec){ .iov_base = head.data, .iov_len = head.len };
	parts[1] = (struct iovec){ .iov_base = answer->body.data, .iov_len = answer->body.len };
	if (send_all(fd, parts, wait_ms) < 0)
		log_debug("msg=\"answer not taken\" status=%d", answer->status);
	(void)shutdown(fd, SHUT_WR);
}
