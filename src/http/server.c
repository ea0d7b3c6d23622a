/*
 * Theory of operation: a server is a gate (http/gate.h), a few workers (http/workers.h) and a
 * daemon of libmicrohttpd (http/library.h). Start: the daemon, which has nothing to do yet, then
 * the gate. Stop: the gate cuts all clients and waits until workers and library have let go of
 * each, which they do when the handlers have returned; then nothing is left to wait for.
 */
#include "http/server.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/macro.h"
#include "http/library.h"
#include "http/server_state.h"

#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

static bool on_head(struct gate *gate, struct connection *connection)
{
	struct http_server *server = container_of(gate, struct http_server, gate);
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	int library_fd;

	if (workers_take(&server->workers, connection))
		return true;
	library_fd = gate_lend(gate, connection);
	if (library_fd < 0)
		return false;
	memset(&address, 0, sizeof(address));
	/* The library wants to know whether TCP's options make sense. */
	if (getsockname(library_fd, (struct sockaddr *)&address, &size) < 0)
		size = sizeof(sa_family_t);
	return MHD_add_connection(server->daemon, library_fd, (struct sockaddr *)&address, size) ==
	       MHD_YES;
}

/* What answers to other methods than GET is short: workers count on it. */
static bool routes_are_sound(const struct http_config *config)
{
	for (size_t i = 0; i < config->n_routes; i++) {
		const struct http_route *route = &config->routes[i];

		if (!(route->has_events || route->has_file) || strcmp(route->method, "GET") == 0)
			continue;
		log_error("msg=\"only GET can be answered with a file or with events\" method=%s "
			  "route=%s",
			route->method, route->pattern);
		return false;
	}
	return true;
}

int http_server_start(const struct http_config *config, const int *listeners, size_t n,
	struct http_server **ret_server)
{
	struct http_server *server;
	int r;

	if (!routes_are_sound(config))
		return -EINVAL;
	server = xcalloc(1, sizeof(*server));
	(void)signal(SIGPIPE, SIG_IGN);
	server->config = config;
	server->gate.limits = &config->limits;
	server->gate.on_head = on_head;
	workers_init(&server->workers, config, &server->gate);
	server->daemon = library_start(server);
	r = server->daemon ? gate_start(&server->gate, listeners, n) : -EAGAIN;
	if (r < 0) {
		if (server->daemon)
			MHD_stop_daemon(server->daemon);
		workers_fini(&server->workers);
		free(server);
		return r;
	}
	*ret_server = server;
	return 0;
}

void http_server_quiesce(struct http_server *server)
{
	gate_quiesce(&server->gate);
}

void http_server_stop(struct http_server *server)
{
	if (!server)
		return;
	gate_stop(&server->gate);
	workers_fini(&server->workers);
	MHD_stop_daemon(server->daemon);
	free(server);
}

void http_server_stats(struct http_server *server, struct http_stats *ret_stats)
{
	pthread_mutex_lock(&server->gate.lock);
	*ret_stats = server->gate.stats;
	pthread_mutex_unlock(&server->gate.lock);
}
