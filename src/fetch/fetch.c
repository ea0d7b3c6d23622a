/*
 * Theory of operation: libcurl's multi interface with one transfer in it, so that between its steps
 * we look at our own clock and at the caller's descriptor. libcurl's own bounds of time do not stop
 * a drip (its low-speed check forgets what came before), so the deadline is ours: a fixed time plus
 * what the bytes so far have earned.
 *
 * Everything that libcurl would do beyond one request is switched off here, in one place: redirects
 * (a token must not travel on), proxies from the environment, .netrc, HTTP/2, alt-svc, other
 * schemes, squashing of dots in a path, signals.
 *
 * An answer whose end is told by the end of the connection alone cannot be told from a cut one; it
 * is marked (is_framed), and the reader decides.
 */
#include "fetch/fetch.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define POLL_MS		  1000 /* between two looks at the deadlines */
#define RETRY_AFTER_MAX_S 86400

struct transfer {
	const struct fetch_request *request;
	struct fetch_answer *answer;
	CURL *easy;
	struct curl_slist *headers;
	size_t sent; /* of the request's body */
	size_t head_bytes;
	bool is_head_told;
	enum fetch_end end; /* that our callbacks have found; FETCH_DONE: none */
	usec_t started_us, moved_us;
	char error[CURL_ERROR_SIZE];
};

static void library_start(void)
{
	CURLcode r = curl_global_init(CURL_GLOBAL_DEFAULT);

	assert(r == CURLE_OK); /* fails without memory only */
}

/* Ends the transfer for a reason of ours; the first one stays. */
__attribute__((format(printf, 3, 4))) static void transfer_end(
	struct transfer *t, enum fetch_end end, const char *format, ...)
{
	va_list ap;

	if (t->end != FETCH_DONE)
		return;
	t->end = end;
	va_start(ap, format);
	(void)vsnprintf(t->answer->text, sizeof(t->answer->text), format, ap);
	va_end(ap);
}

static const char *header_get(struct transfer *t, const char *name)
{
	struct curl_header *header;

	return curl_easy_header(t->easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK
		       ? header->value
		       : NULL;
}

/* Takes the head out of libcurl and tells it, once. Returns 0, or -1 to stop. */
static int head_tell(struct transfer *t)
{
	struct fetch_answer *answer = t->answer;
	const struct fetch_watch *watch = t->request->watch;
	const char *type = header_get(t, "Content-Type"), *after = header_get(t, "Retry-After");
	curl_off_t length = -1;
	uint64_t seconds = 0;
	long status = 0;

	if (t->is_head_told)
		return 0;
	t->is_head_told = true;
	(void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	answer->status = (int)status;
	answer->length = length;
	answer->is_framed = length >= 0 || status == 204 || status == 304 ||
			    header_get(t, "Transfer-Encoding") != NULL ||
			    strcmp(t->request->method, "HEAD") == 0;
	answer->is_encoded = header_get(t, "Content-Encoding") != NULL;
	if (type)
		(void)str_copy(answer->content_type, sizeof(answer->content_type), type);
	if (after && str_to_u64(str_from(after), RETRY_AFTER_MAX_S, &seconds) == 0)
		answer->retry_after_s = (unsigned)seconds;
	if (length > 0 && (uint64_t)length > t->request->answer_max &&
		strcmp(t->request->method, "HEAD") != 0) {
		transfer_end(t, FETCH_TOO_LARGE, "the answer is too large");
		return -1;
	}
	if (watch && watch->on_head && watch->on_head(t->request->watch, answer) < 0) {
		transfer_end(t, FETCH_STOPPED, "stopped");
		return -1;
	}
	return 0;
}

static size_t on_header(char *line, size_t size, size_t n, void *userdata)
{
	struct transfer *t = userdata;

	t->moved_us = clock_now_us();
	t->head_bytes += size * n;
	if (t->head_bytes <= FETCH_HEAD_MAX)
		return size * n;
	transfer_end(t, FETCH_TOO_LARGE, "the answer's head is too large");
	return 0;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *userdata)
{
	struct transfer *t = userdata;
	struct fetch_watch *watch = t->request->watch;

	t->moved_us = clock_now_us();
	if (head_tell(t) < 0)
		return 0;
	n *= size;
	if (n > t->request->answer_max - t->answer->body_bytes) {
		transfer_end(t, FETCH_TOO_LARGE, "the answer is too large");
		return 0;
	}
	t->answer->body_bytes += n;
	if (watch && watch->on_body && watch->on_body(watch, (struct str){ bytes, n }) < 0) {
		transfer_end(t, FETCH_STOPPED, "stopped");
		return 0;
	}
	return n;
}

static size_t on_read(char *bytes, size_t size, size_t n, void *userdata)
{
	struct transfer *t = userdata;
	const struct fetch_request *request = t->request;
	size_t total = request->is_body_fd ? (size_t)request->body_size : request->body.n;

	t->moved_us = clock_now_us();
	n = MIN(size * n, total - t->sent);
	if (n == 0)
		return 0;
	if (!request->is_body_fd) {
		memcpy(bytes, request->body.p + t->sent, n);
	} else {
		ssize_t got = fd_read_full(request->body_fd, bytes, n);

		if (got < 0 || (size_t)got < n) {
			transfer_end(t, FETCH_FAILED, "the file cannot be read: %s",
				got < 0 ? strerror((int)-got) : "it has become shorter");
			return CURL_READFUNC_ABORT;
		}
	}
	t->sent += n;
	return n;
}

static void header_add(struct transfer *t, const char *name, const char *value)
{
	AUTO_FREE char *line = xasprintf("%s: %s", name, value);
	struct curl_slist *longer = curl_slist_append(t->headers, line);

	assert(longer);
	t->headers = longer;
}

static void token_add(struct transfer *t)
{
	AUTO_FREE char *value = xasprintf("Bearer %s", t->request->token);

	header_add(t, "Authorization", value);
}

static void body_set(struct transfer *t)
{
	const struct fetch_request *request = t->request;
	uint64_t size = request->is_body_fd ? request->body_size : request->body.n;

	header_add(t, "Content-Type", request->content_type);
	(void)curl_easy_setopt(t->easy, CURLOPT_UPLOAD, 1L);
	(void)curl_easy_setopt(t->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)size);
	(void)curl_easy_setopt(t->easy, CURLOPT_READFUNCTION, on_read);
	(void)curl_easy_setopt(t->easy, CURLOPT_READDATA, t);
}

/* What is asked for, and all that libcurl is not to do. */
static void options_set(struct transfer *t)
{
	const struct fetch_request *request = t->request;
	CURL *easy = t->easy;

	(void)curl_easy_setopt(easy, CURLOPT_URL, request->url);
	(void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	(void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	(void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
	(void)curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	(void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	(void)curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
	(void)curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "cloche/" CLOCHE_VERSION);
	(void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error);
	(void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	(void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
	if (request->socket_path)
		(void)curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request->socket_path);
	if (request->connect_ms)
		(void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_ms);
	if (strcmp(request->method, "HEAD") == 0)
		(void)curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	if (request->content_type)
		body_set(t);
	(void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
	header_add(t, "Accept", request->accept ? request->accept : "*/*");
	if (request->token)
		token_add(t);
	(void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t->headers);
}

/* Milliseconds until a bound of time is met, at most POLL_MS; 0 when one is. */
static int time_left(const struct transfer *t)
{
	const struct fetch_request *request = t->request;
	usec_t now = clock_now_us(), left = POLL_MS * USEC_PER_MS, at;

	if (request->silence_ms) {
		at = t->moved_us + request->silence_ms * USEC_PER_MS;
		left = MIN(left, at > now ? at - now : 0);
	}
	if (request->total_ms) {
		at = t->started_us + request->total_ms * USEC_PER_MS;
		if (request->rate_bytes_per_s)
			at += (t->sent + t->answer->body_bytes) * USEC_PER_S /
			      request->rate_bytes_per_s;
		left = MIN(left, at > now ? at - now : 0);
	}
	return (int)((left + USEC_PER_MS - 1) / USEC_PER_MS);
}

static void wake_look(struct transfer *t, const struct curl_waitfd *wake)
{
	struct fetch_watch *watch = t->request->watch;

	if (wake->revents && watch && watch->on_wake && watch->on_wake(watch) < 0)
		transfer_end(t, FETCH_STOPPED, "stopped");
}

/* Runs the one transfer to its end. Returns what libcurl said, unless t->end is set. */
static CURLcode transfer_turn(struct transfer *t, CURLM *multi)
{
	struct curl_waitfd wake = { .fd = t->request->wake_fd, .events = CURL_WAIT_POLLIN };
	int running = 1, wait_ms, queued;

	for (;;) {
		CURLMcode r = curl_multi_perform(multi, &running);
		CURLMsg *message = running == 0 ? curl_multi_info_read(multi, &queued) : NULL;

		if (message)
			return message->data.result;
		if (t->end == FETCH_DONE && (r != CURLM_OK || running == 0))
			transfer_end(t, FETCH_FAILED, "%s", curl_multi_strerror(r));
		wait_ms = time_left(t);
		if (wait_ms == 0)
			transfer_end(t, FETCH_TIMEOUT,
				t->is_head_told ? "the answer did not come to its end in time"
						: "no answer came in time");
		if (t->end != FETCH_DONE)
			return CURLE_OK;
		wake.revents = 0;
		(void)curl_multi_poll(multi, &wake, t->request->has_wake ? 1 : 0, wait_ms, NULL);
		wake_look(t, &wake);
	}
}

/* libcurl's numbers that people can act on differently. */
static enum fetch_end end_of(CURLcode code)
{
	static const struct {
		CURLcode code;
		enum fetch_end end;
	} rows[] = {
		{ CURLE_OK, FETCH_DONE },
		{ CURLE_COULDNT_CONNECT, FETCH_UNREACHABLE },
		{ CURLE_COULDNT_RESOLVE_HOST, FETCH_UNREACHABLE },
		{ CURLE_OPERATION_TIMEDOUT, FETCH_TIMEOUT },
		{ CURLE_SSL_CONNECT_ERROR, FETCH_INSECURE },
		{ CURLE_PEER_FAILED_VERIFICATION, FETCH_INSECURE },
		{ CURLE_SSL_CACERT_BADFILE, FETCH_INSECURE },
		{ CURLE_SSL_CERTPROBLEM, FETCH_INSECURE },
		{ CURLE_SSL_CIPHER, FETCH_INSECURE },
		{ CURLE_SSL_ISSUER_ERROR, FETCH_INSECURE },
		{ CURLE_PARTIAL_FILE, FETCH_CUT },
		{ CURLE_GOT_NOTHING, FETCH_CUT },
		{ CURLE_RECV_ERROR, FETCH_CUT },
		{ CURLE_SEND_ERROR, FETCH_CUT },
		{ CURLE_UNSUPPORTED_PROTOCOL, FETCH_MALFORMED }, /* HTTP/0.9 */
		{ CURLE_WEIRD_SERVER_REPLY, FETCH_MALFORMED },
		{ CURLE_BAD_CONTENT_ENCODING, FETCH_MALFORMED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].code == code)
			return rows[i].end;
	return FETCH_FAILED;
}

/* Puts libcurl's end into our words. */
static void transfer_judge(struct transfer *t, CURLcode code)
{
	enum fetch_end end = end_of(code);
	long error = 0;

	if (end == FETCH_DONE) {
		(void)head_tell(t);
		return;
	}
	/* Its bound of one header line, 100 KiB, has no name of its own in this libcurl; memory
	 * that is really out would have ended us elsewhere. */
	if (code == CURLE_OUT_OF_MEMORY && !t->is_head_told) {
		transfer_end(t, FETCH_TOO_LARGE, "a header of the answer is too long");
		return;
	}
	(void)curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &error);
	if (end == FETCH_UNREACHABLE && code == CURLE_COULDNT_CONNECT && error != 0)
		transfer_end(t, end, "%s", strerror((int)error));
	else
		transfer_end(t, end, "%s", t->error[0] ? t->error : curl_easy_strerror(code));
}

enum fetch_end fetch_run(const struct fetch_request *request, struct fetch_answer *ret_answer)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct transfer t = { .request = request, .answer = ret_answer };
	CURLM *multi;

	(void)pthread_once(&once, library_start);
	*ret_answer = (struct fetch_answer){ .length = -1 };
	t.started_us = t.moved_us = clock_now_us();
	t.easy = curl_easy_init();
	multi = curl_multi_init();
	if (t.easy && multi) {
		options_set(&t);
		(void)curl_multi_add_handle(multi, t.easy);
		transfer_judge(&t, transfer_turn(&t, multi));
		(void)curl_multi_remove_handle(multi, t.easy);
	} else {
		transfer_end(&t, FETCH_FAILED, "no descriptors for a connection");
	}
	curl_easy_cleanup(t.easy);
	(void)curl_multi_cleanup(multi);
	curl_slist_free_all(t.headers);
	return t.end;
}
