/*
 * Theory of operation: the head is looked at with MSG_PEEK and stays in the socket, so that
 * libmicrohttpd later reads the very bytes that were judged. Only when it is whole and good is it
 * copied: an idle connection costs one small structure and no buffer. A small body has mostly come
 * with its head; it is copied too, so that nobody has to wait for the library to bring it. What is
 * refused gets its answer in one write to an empty socket buffer, which takes it whole; then our
 * half is closed and what still comes is dropped for a while: closing with unread bytes would send
 * a reset, which may destroy the answer on its way (RFC 9112 section 9.6).
 */
#include "http/connection.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "http/problem.h"
#include "http/syntax/date.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define DROP_ROUNDS 16 /* reads in one go: 1 MiB of 64 KiB, so that no client holds the gate */

static void peer_find_inet(const union connection_address *address, struct http_peer *peer)
{
	char text[INET6_ADDRSTRLEN];

	if (address->any.sa_family == AF_INET &&
		inet_ntop(AF_INET, &address->v4.sin_addr, text, sizeof(text)))
		(void)str_format(peer->text, sizeof(peer->text), "%s:%u", text,
			(unsigned)ntohs(address->v4.sin_port));
	if (address->any.sa_family == AF_INET6 &&
		inet_ntop(AF_INET6, &address->v6.sin6_addr, text, sizeof(text)))
		(void)str_format(peer->text, sizeof(peer->text), "[%s]:%u", text,
			(unsigned)ntohs(address->v6.sin6_port));
}

/* unix(7): SO_PEERCRED is who called connect. Without it the peer has no uid, and no rights. */
static void peer_find(int fd, const union connection_address *address, struct http_peer *peer)
{
	struct ucred cred;
	socklen_t size = sizeof(cred);
	int one = 1;

	peer->uid = (uid_t)-1;
	peer->is_unix = address->any.sa_family == AF_UNIX;
	if (!peer->is_unix) {
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		peer_find_inet(address, peer);
		return;
	}
	(void)str_copy(peer->text, sizeof(peer->text), "unix");
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0)
		peer->uid = cred.uid;
}

struct connection *connection_new(int fd, const union connection_address *address)
{
	struct connection *connection = xcalloc(1, sizeof(*connection));

	connection->fd = fd;
	connection->library_fd = -1;
	peer_find(fd, address, &connection->peer);
	return connection;
}

void connection_free(struct connection *connection)
{
	if (!connection)
		return;
	(void)fd_close(connection->fd);
	free(connection->head);
	free(connection->bytes);
	free(connection);
}

/* Copies what has come and judges the head, its first head_size bytes. Returns 1 or -EBADMSG. */
static int head_take(
	struct connection *connection, struct str bytes, size_t head_size, struct fault *ret_fault)
{
	struct head *head = xcalloc(1, sizeof(*head));
	int r;

	connection->bytes = xmalloc(bytes.n);
	connection->head = head;
	memcpy(connection->bytes, bytes.p, bytes.n);
	r = head_judge((struct str){ connection->bytes, head_size }, head, ret_fault);
	if (r < 0)
		return r;
	if (!head->is_chunked && head->length <= bytes.n - head_size)
		connection->body =
			(struct str){ connection->bytes + head_size, (size_t)head->length };
	return 1;
}

/* A head that fills HEAD_MAX and has no end. */
static int refuse_long(struct str bytes, struct fault *ret_fault)
{
	if (!memchr(bytes.p, '\n', MIN(bytes.n, HEAD_TARGET_MAX + 64)))
		fault_set(ret_fault, FAULT_URI_TOO_LONG, "The target is over 13 KiB.");
	else
		fault_set(ret_fault, FAULT_HEADERS_TOO_LARGE, "The head is over 16 KiB.");
	return -EBADMSG;
}

int connection_peek(struct connection *connection, char *scratch, struct fault *ret_fault)
{
	ssize_t n = recv(connection->fd, scratch, HEAD_MAX + 1, MSG_PEEK | MSG_DONTWAIT);
	struct str bytes = { scratch, 0 };
	size_t size;
	int r;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -ECONNRESET;
	bytes.n = size = (size_t)n;
	r = head_scan(bytes, connection->scanned, &size);
	if (r < 0) {
		fault_set(ret_fault, FAULT_BAD_REQUEST,
			"The head holds a control character or a line that does not end in CR LF.");
		return r;
	}
	if (r == 0 && bytes.n > HEAD_MAX)
		return refuse_long(bytes, ret_fault);
	connection->scanned = size;
	return r == 0 ? 0 : head_take(connection, bytes, size, ret_fault);
}

bool connection_drop(struct connection *connection, char *scratch, size_t size)
{
	for (unsigned i = 0; i < DROP_ROUNDS; i++) {
		ssize_t n = recv(connection->fd, scratch, size, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (n <= 0)
			return true;
		connection->dropped += (size_t)n;
	}
	return connection->dropped > CONNECTION_DROP_MAX;
}

void connection_format_refusal(const struct fault *fault, const char *id, struct buf *out)
{
	AUTO_BUF struct buf body = BUF_INIT(PROBLEM_SIZE_MAX);
	unsigned status = (unsigned)fault_status(fault->code);
	char date[DATE_SIZE];
	int r = problem_write(fault, &body);

	date_format(date);
	if (r == 0)
		r = buf_addf(out,
			"HTTP/1.1 %u %s\r\nDate: %s\r\nContent-Type: application/problem+json\r\n"
			"Content-Length: %zu\r\nCache-Control: no-store\r\n"
			"X-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\n"
			"Connection: close\r\n%s\r\n%s",
			status, MHD_get_reason_phrase_for(status), date, body.len, id,
			status == 503 || status == 429 ? "Retry-After: 1\r\n" : "",
			buf_get_cstr(&body));
	if (r < 0)
		log_error("msg=\"refusal does not fit\" status=%u", status);
}
