/*
 * Theory of operation: a line goes out in one write(2) to a descriptor opened for appending, so
 * lines of several threads never mix. Whoever moves the file away and tells `cloche up` (SIGHUP)
 * loses none: the old file gets all lines until the new one is here. A disk that fills up in the
 * middle of a line leaves it torn; the next one then begins with a line end of its own, so that
 * only one is lost.
 */
#include "supervisor/audit.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "http/request.h"
#include "supervisor/caller.h"
#include "json/json.h"

#include <errno.h>
#include <time.h>

/* Bytes: names of files in and out (ONLOOKER_PATHS_MAX each), each byte perhaps six when escaped,
 * and the rest. A line that did not fit would be lost. */
#define LINE_MAX_BYTES (2u * 1024 * 1024)

void audit_init(struct audit *audit)
{
	*audit = (struct audit){ .mutex = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };
}

void audit_open(struct audit *audit, int fd)
{
	(void)pthread_mutex_lock(&audit->mutex);
	(void)fd_close(audit->fd);
	audit->fd = fd;
	audit->is_torn = false;
	(void)pthread_mutex_unlock(&audit->mutex);
}

/* "2026-11-29T17:30:00.123Z" */
static void time_format(char text[40])
{
	struct timespec now;
	struct tm tm;
	size_t n;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)gmtime_r(&now.tv_sec, &tm);
	n = strftime(text, 40, "%Y-%m-%dT%H:%M:%S", &tm);
	(void)str_format(text + n, 40 - n, ".%03ldZ", now.tv_nsec / 1000000);
}

struct json *audit_line(struct http_request *request, const char *event)
{
	const struct caller *caller = caller_get(request);
	struct json *line = json_object_new();
	char now[40];

	time_format(now);
	json_set_cstr(line, "time", now);
	json_set_cstr(line, "event", event);
	json_set_cstr(line, "request", http_id_get(request));
	json_set_cstr(line, "peer", http_peer_get(request)->text);
	json_set_cstr(line, "tenant", caller->tenant);
	json_set_cstr(line, "token", caller->token_id);
	return line;
}

/* Under the lock. */
static int append(struct audit *audit, struct str text)
{
	ssize_t n;

	if (audit->is_torn && write(audit->fd, "\n", 1) != 1)
		return -errno;
	audit->is_torn = false;
	do
		n = write(audit->fd, text.p, text.n);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)text.n)
		return 0;
	audit->is_torn = n > 0;
	return n < 0 ? -errno : -ENOSPC;
}

void audit_write(struct audit *audit, const struct json *line)
{
	AUTO_BUF struct buf text = BUF_INIT(LINE_MAX_BYTES);
	int r = json_write(line, &text);

	if (r == 0)
		r = buf_add_char(&text, '\n');
	(void)pthread_mutex_lock(&audit->mutex);
	if (r == 0)
		r = append(audit, buf_get_slice(&text));
	if (r < 0 && !audit->is_failing)
		log_error("msg=\"audit log not written\" error=%s", LOG_VALUE(strerror(-r)));
	else if (r == 0 && audit->is_failing)
		log_info("msg=\"audit log is written again\" lost=%llu",
			(unsigned long long)audit->failed);
	audit->is_failing = r < 0;
	audit->failed += r < 0;
	(void)pthread_mutex_unlock(&audit->mutex);
}

uint64_t audit_failed(struct audit *audit)
{
	uint64_t failed;

	(void)pthread_mutex_lock(&audit->mutex);
	failed = audit->failed;
	(void)pthread_mutex_unlock(&audit->mutex);
	return failed;
}
