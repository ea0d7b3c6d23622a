/*
 * Theory of operation: a server with one route for each way that src/http can be used, for the
 * tests beside it. usage: http-test-server FOLDER [LIMIT=N]...; it listens on a port of its own,
 * which it prints, and on FOLDER/socket, serves the files of FOLDER/files, and stops at the end of
 * its standard input. LIMIT is a field of struct http_limits.
 */
#include "http/server.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "http/request.h"
#include "http/respond.h"
#include "http/sse.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#define BODY_MAX  ((uint64_t)1024 * 1024 * 1024)
#define SMALL_MAX ((uint64_t)64 * 1024)
#define ECHO_MAX  ((size_t)128 * 1024)
#define EVENT_MAX ((size_t)64 * 1024 * 1024)
#define BACKLOG	  512

static struct program {
	struct http_config config;
	int files;	    /* FOLDER/files */
	atomic_uint inside; /* handlers that wait for their clients, now */
	atomic_uint gone;   /* clients that left one */
} program;

struct note {
	char admitted[8];
};

static void ping(struct http_request *request)
{
	http_respond(request, 200, "text/plain", STR("pong\n"));
}

/* What a handler sees: the key, the query's field a, the peer, the note of admit. */
static void show(struct http_request *request)
{
	AUTO_BUF struct buf out = BUF_INIT(ECHO_MAX);
	const struct http_peer *peer = http_peer_get(request);
	const struct note *note = http_note_get(request);
	struct str key = http_parameter_get(request, "key"), value = STR("-"), agent = STR("-");

	(void)http_query_get(request, "a", &value);
	(void)http_header_get(request, "user-agent", &agent);
	(void)buf_addf(&out, "key=%.*s\na=%.*s\nagent=%.*s\nunix=%d\nuid=%d\nadmitted=%s\n",
		STR_ARG(key), STR_ARG(value), STR_ARG(agent), peer->is_unix, (int)peer->uid,
		note->admitted);
	http_respond(request, 200, "text/plain", buf_get_slice(&out));
}

static void echo(struct http_request *request)
{
	http_respond_json(request, 200, http_body_get(request));
}

/* Counts a body at constant memory. */
static void count(struct http_request *request)
{
	char chunk[8192], text[64];
	uint64_t n_bytes = 0;
	ssize_t n;

	while ((n = http_body_read(request, chunk, sizeof(chunk))) > 0)
		n_bytes += (uint64_t)n;
	if (n < 0) {
		http_respond_body_error(request, (int)n);
		return;
	}
	(void)str_format(text, sizeof(text), "%llu\n", (unsigned long long)n_bytes);
	http_respond(request, 201, "text/plain", str_from(text));
}

/* Answers in the middle of a body. */
static void full(struct http_request *request)
{
	struct fault fault;
	char byte;

	(void)http_body_read(request, &byte, 1);
	fault_set(&fault, FAULT_HOME_FULL, "No room for \"%s\".", "this");
	http_respond_fault(request, &fault);
}

static void file(struct http_request *request)
{
	struct str path = http_parameter_get(request, "path");
	AUTO_FREE char *name = xasprintf("%.*s", STR_ARG(path));
	struct fault fault;
	int fd = openat(program.files, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	if (fd >= 0) {
		http_respond_file(request, fd, "application/octet-stream");
		return;
	}
	fault_set(&fault, FAULT_NOT_FOUND, "There is no such file.");
	http_respond_fault(request, &fault);
}

/* GET /events/{n}: n events of 100 bytes; 0: until the client is gone. */
static void events(struct http_request *request)
{
	char data[101];
	uint64_t n = 0;
	int r = str_to_u64(http_parameter_get(request, "n"), UINT32_MAX, &n);

	memset(data, 'x', sizeof(data) - 1);
	data[100] = '\0';
	program.inside++;
	http_sse_start(request);
	for (uint64_t i = 0; r == 0 && (n == 0 || i < n); i++)
		r = http_sse_event(request, "stdout", str_from(data));
	if (r == 0)
		r = http_sse_event(request, "end", STR("one\ntwo\r\nthree"));
	if (r < 0)
		program.gone++;
	program.inside--;
}

/* GET /event/{n}: one event of n bytes. */
static void event(struct http_request *request)
{
	AUTO_BUF struct buf data = BUF_INIT(EVENT_MAX);
	uint64_t n = 0;

	(void)str_to_u64(http_parameter_get(request, "n"), EVENT_MAX, &n);
	while (data.len < n)
		(void)buf_add_char(&data, 'x');
	program.inside++;
	http_sse_start(request);
	if (http_sse_event(request, "end", buf_get_slice(&data)) < 0)
		program.gone++;
	program.inside--;
}

/* A silent run: waits for the client to hang up, at most ?a= milliseconds; as a stream or not. */
static void wait_silently(struct http_request *request, bool is_stream)
{
	struct pollfd ends = { .fd = http_client_fd_get(request), .events = POLLRDHUP };
	struct str text = STR("");
	uint64_t wait_ms = 60000;

	if (http_query_get(request, "a", &text))
		(void)str_to_u64(text, 60000, &wait_ms);
	if (is_stream)
		http_sse_start(request);
	program.inside++;
	(void)poll(&ends, 1, (int)wait_ms);
	if (http_is_gone(request))
		program.gone++;
	program.inside--;
	if (!is_stream)
		http_respond_empty(request, 204);
}

static void silent(struct http_request *request)
{
	wait_silently(request, false);
}

static void silent_events(struct http_request *request)
{
	wait_silently(request, true);
}

static void mute(struct http_request *request)
{
	(void)request;
}

static void stats(struct http_request *request)
{
	struct http_stats now;
	char text[256];

	http_server_stats(http_server_get(request), &now);
	(void)str_format(text, sizeof(text),
		"{\"waiting\":%u,\"served\":%u,\"accepted\":%llu,\"requests\":%llu,\"refused\":%"
		"llu,"
		"\"inside\":%u,\"gone\":%u}",
		now.waiting, now.served, (unsigned long long)now.accepted,
		(unsigned long long)now.requests, (unsigned long long)now.refused, program.inside,
		program.gone);
	http_respond_json(request, 200, str_from(text));
}

static const struct http_route routes[] = {
	{ "GET", "/ping", 0, HTTP_BODY_NONE, 0, ping },
	{ "GET", "/stats", 0, HTTP_BODY_NONE, 0, stats },
	{ "GET", "/show/{key}", 0, HTTP_BODY_NONE, 0, show },
	{ "POST", "/echo", 0, HTTP_BODY_JSON, SMALL_MAX, echo },
	{ "POST", "/locked", 1, HTTP_BODY_JSON, SMALL_MAX, echo },
	{ "GET", "/files/{path...}", 0, HTTP_BODY_NONE, 0, file, .has_file = true },
	{ "PUT", "/files/{path...}", 0, HTTP_BODY_STREAM, BODY_MAX, count },
	{ "PUT", "/small", 0, HTTP_BODY_STREAM, SMALL_MAX, count },
	{ "PUT", "/full", 0, HTTP_BODY_STREAM, BODY_MAX, full },
	{ "GET", "/events/{n}", 0, HTTP_BODY_NONE, 0, events, true },
	{ "GET", "/event/{n}", 0, HTTP_BODY_NONE, 0, event, true },
	{ "GET", "/silent", 0, HTTP_BODY_NONE, 0, silent },
	{ "GET", "/silent-events", 0, HTTP_BODY_NONE, 0, silent_events, true },
	{ "GET", "/mute", 0, HTTP_BODY_NONE, 0, mute },
};

static bool admit(struct http_request *request, const struct http_route *route)
{
	struct note *note = http_note_get(request);
	struct fault fault;
	struct str token;

	(void)str_copy(note->admitted, sizeof(note->admitted), "yes");
	if (route->scope == 0 || http_header_get(request, "authorization", &token))
		return true;
	fault_set(&fault, FAULT_UNAUTHORIZED, "No token.");
	http_respond_fault(request, &fault);
	return false;
}

static void limit_set(struct http_limits *limits, const char *option)
{
	const struct {
		const char *name;
		unsigned *value;
	} fields[] = {
		{ "waiting_max", &limits->waiting_max },
		{ "served_max", &limits->served_max },
		{ "head_ms", &limits->head_ms },
		{ "body_ms", &limits->body_ms },
		{ "answer_ms", &limits->answer_ms },
		{ "answer_rate", &limits->answer_rate_bytes_per_s },
		{ "bodies_max_bytes", &limits->bodies_max_bytes },
		{ "comment_ms", &limits->comment_ms },
		{ "event_ms", &limits->event_ms },
		{ "linger_ms", &limits->linger_ms },
	};
	struct str name, text;
	uint64_t value;

	if (!str_split_once(str_from(option), '=', &name, &text) ||
		str_to_u64(text, UINT32_MAX, &value) < 0)
		errx(2, "%s: not LIMIT=N", option);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (str_eq(name, str_from(fields[i].name))) {
			*fields[i].value = (unsigned)value;
			return;
		}
	}
	errx(2, "%s: no such limit", option);
}

static int listen_tcp(unsigned *ret_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, BACKLOG) < 0 ||
		getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		err(1, "cannot listen");
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static int listen_unix(const char *folder)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (str_format(address.sun_path, sizeof(address.sun_path), "%s/socket", folder) < 0 ||
		fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(fd, BACKLOG) < 0)
		err(1, "%s/socket", folder);
	return fd;
}

int main(int argc, char **argv)
{
	struct http_config *config = &program.config;
	AUTO_FREE char *files = NULL;
	int listeners[2], r;
	struct http_server *server;
	unsigned port = 0;
	char byte;

	if (argc < 2)
		errx(2, "usage: %s FOLDER [LIMIT=N]...", argv[0]);
	config->limits = HTTP_LIMITS_DEFAULT;
	for (int i = 2; i < argc; i++)
		limit_set(&config->limits, argv[i]);
	config->routes = routes;
	config->n_routes = ARRAY_SIZE(routes);
	config->admit = admit;
	config->note_size = sizeof(struct note);
	files = xasprintf("%s/files", argv[1]);
	program.files = open(files, O_PATH | O_DIRECTORY | O_CLOEXEC);
	listeners[0] = listen_tcp(&port);
	listeners[1] = listen_unix(argv[1]);
	r = http_server_start(config, listeners, ARRAY_SIZE(listeners), &server);
	if (r < 0)
		errx(1, "no server: %d", r);
	printf("%u\n", port);
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	http_server_stop(server);
	(void)fd_close(program.files);
	printf("stopped\n");
	return 0;
}
