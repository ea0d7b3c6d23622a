/*
 * /metrics: Prometheus text. The table names what this program adds to the house's own counters
 * (house/counters.def); values are looked up once, then written in the table's order.
 */
#include "base/buf.h"
#include "base/macro.h"
#include "call/spares.h"
#include "call/warm.h"
#include "house/canary.h"
#include "house/counters.h"
#include "house/house.h"
#include "http/request.h"
#include "http/respond.h"
#include "http/server.h"
#include "supervisor/api.h"
#include "supervisor/supervisor.h"

#define METRICS_BYTES_MAX (64u * 1024)

/* All that is looked up. */
struct figures {
	struct house_gauges house;
	struct wire_status_is jaild;
	unsigned spares_wanted;
	struct http_stats http;
	struct canary_result canary;
	bool is_ready;
	uint64_t audit_failed;
};

#define METRICS(METRIC)                                                                            \
	METRIC("cloche_house_sessions", "gauge", "Sessions open now.", house.sessions)             \
	METRIC("cloche_house_sessions_max", "gauge", "Sessions that may be open at once.",         \
		house.max_sessions)                                                                \
	METRIC("cloche_house_kept", "gauge", "Sessions that are kept, active or stopped.",         \
		house.kept)                                                                        \
	METRIC("cloche_store_bytes", "gauge", "Bytes of kept sessions on disk.",                   \
		house.store_bytes)                                                                 \
	METRIC("cloche_store_syncs_total", "counter", "Calls of fsync for kept sessions.",         \
		house.store_syncs)                                                                 \
	METRIC("cloche_house_runs", "gauge", "Runs under way.", house.runs)                        \
	METRIC("cloche_house_waiting", "gauge", "Calls that wait for a place.", house.waiting)     \
	METRIC("cloche_house_calls", "gauge", "Calls under way in sessions.", house.calls)         \
	METRIC("cloche_house_connections", "gauge", "Connections to the jail daemon in use.",      \
		house.connections)                                                                 \
	SPARES_METRICS(METRIC)                                                                     \
	METRIC("cloche_http_waiting", "gauge", "Connections without a whole request head.",        \
		http.waiting)                                                                      \
	METRIC("cloche_http_served", "gauge", "Requests under way.", http.served)                  \
	METRIC("cloche_http_connections_total", "counter", "Connections accepted.", http.accepted) \
	METRIC("cloche_http_requests_total", "counter", "Requests that reached a route.",          \
		http.requests)                                                                     \
	METRIC("cloche_http_refused_total", "counter", "Connections refused before a route.",      \
		http.refused)                                                                      \
	METRIC("cloche_canary_ok_total", "counter", "Canary runs that worked.", canary.ok_total)   \
	METRIC("cloche_canary_failed_total", "counter", "Canary runs that did not.",               \
		canary.failed_total)                                                               \
	METRIC("cloche_canary_age_milliseconds", "gauge", "Since the last canary run ended.",      \
		canary.ms_ago)                                                                     \
	METRIC("cloche_canary_took_milliseconds", "gauge", "How long it took.", canary.took_ms)    \
	METRIC("cloche_ready", "gauge", "1 when GET /ready says so.", is_ready)                    \
	METRIC("cloche_audit_failed_total", "counter", "Lines of the audit log that were lost.",   \
		audit_failed)

static void figures_take(struct supervisor *supervisor, struct figures *figures)
{
	struct http_server *server;

	(void)pthread_mutex_lock(&supervisor->starting);
	server = supervisor->server;
	(void)pthread_mutex_unlock(&supervisor->starting);
	house_gauges(supervisor->house, &figures->house);
	spares_status(house_pool_get(supervisor->house), &figures->jaild);
	figures->spares_wanted = (unsigned)supervisor->settings.spares;
	http_server_stats(server, &figures->http);
	canary_get(supervisor->canary, &figures->canary);
	figures->is_ready = canary_is_ready(supervisor->canary);
	figures->audit_failed = audit_failed(&supervisor->audit);
}

static void metric_add(struct buf *out, const char *name, const char *type, const char *help)
{
	(void)buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void counters_write(struct supervisor *supervisor, struct buf *out)
{
	struct counters *counters = house_counters_get(supervisor->house);

	for (unsigned i = 0; i < COUNTER_MAX; i++) {
		enum counter counter = (enum counter)i;
		AUTO_BUF struct buf name = BUF_INIT(256);

		(void)buf_addf(&name, "cloche_house_%s", counter_name(counter));
		metric_add(out, buf_get_cstr(&name), "counter", counter_help(counter));
		(void)buf_addf(out, "%s %llu\n", buf_get_cstr(&name),
			(unsigned long long)counters_get(counters, counter));
	}
}

void api_metrics(struct http_request *request)
{
	struct supervisor *supervisor = supervisor_of(request);
	AUTO_BUF struct buf out = BUF_INIT(METRICS_BYTES_MAX);
	struct figures figures = { 0 };

	figures_take(supervisor, &figures);
#define METRIC(name, type, help, field)                                                            \
	metric_add(&out, name, type, help);                                                        \
	(void)buf_addf(&out, "%s %llu\n", name, (unsigned long long)figures.field);
	METRICS(METRIC)
#undef METRIC
	counters_write(supervisor, &out);
	warm_metrics_write(supervisor->house, &out);
	metric_add(&out, "cloche_build_info", "gauge", "The version that runs.");
	(void)buf_addf(&out, "cloche_build_info{version=\"%s\"} 1\n", CLOCHE_VERSION);
	http_respond(request, 200, "text/plain; version=0.0.4; charset=utf-8", buf_get_slice(&out));
}
