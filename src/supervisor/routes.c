/* The table of routes: architecture.md section 7. */
#include "base/macro.h"
#include "http/server.h"
#include "supervisor/api.h"
#include "supervisor/caller.h"
#include "supervisor/supervisor.h"
#include "json/parse.h"

/* Bytes of a file that comes in: what a profile's home may hold at most would be 256 GiB; the home
 * itself says 507 long before. */
#define UPLOAD_MAX ((uint64_t)1 << 38)

static const struct http_route routes[] = {
	{ "GET", "/health", SCOPE_OPEN | ROUTE_FREE, HTTP_BODY_NONE, 0, api_health },
	{ "GET", "/openapi.yaml", SCOPE_OPEN | ROUTE_LOOK, HTTP_BODY_NONE, 0, api_openapi },
	{ "GET", "/ready", SCOPE_ANY | ROUTE_FREE, HTTP_BODY_NONE, 0, api_ready },
	{ "GET", "/metrics", SCOPE_ANY | ROUTE_LOOK, HTTP_BODY_NONE, 0, api_metrics },
	{ "GET", "/v1/info", SCOPE_ANY | ROUTE_LOOK, HTTP_BODY_NONE, 0, api_info },
	{ "GET", "/v1/sessions", SCOPE_ANY | ROUTE_LOOK, HTTP_BODY_NONE, 0, api_session_list },
	{ "GET", "/v1/sessions/{key}", SCOPE_RUN | ROUTE_LOOK, HTTP_BODY_NONE, 0, api_session_get },
	{ "DELETE", "/v1/sessions/{key}", SCOPE_RUN | ROUTE_LOOK, HTTP_BODY_NONE, 0,
		api_session_close },
	{ "POST", "/v1/sessions/{key}/stop", SCOPE_RUN | ROUTE_LOOK, HTTP_BODY_NONE, 0,
		api_session_stop },
	{ "GET", "/v1/sessions/{key}/export", SCOPE_RUN, HTTP_BODY_NONE, 0, api_session_export,
		.has_file = true },
	{ "PUT", "/v1/sessions/{key}/import", SCOPE_RUN | ROUTE_QUERY, HTTP_BODY_STREAM, UPLOAD_MAX,
		api_session_import },
	{ "POST", "/v1/sessions/{key}/run", SCOPE_RUN, HTTP_BODY_JSON, JSON_SIZE_MAX, api_run },
	{ "GET", "/v1/sessions/{key}/files", SCOPE_RUN | ROUTE_QUERY, HTTP_BODY_NONE, 0,
		api_file_list },
	{ "GET", "/v1/sessions/{key}/files/{path...}", SCOPE_RUN, HTTP_BODY_NONE, 0, api_file_get,
		.has_file = true },
	{ "PUT", "/v1/sessions/{key}/files/{path...}", SCOPE_RUN | ROUTE_QUERY, HTTP_BODY_STREAM,
		UPLOAD_MAX, api_file_put },
	{ "DELETE", "/v1/sessions/{key}/files/{path...}", SCOPE_RUN, HTTP_BODY_NONE, 0,
		api_file_remove },
	{ "POST", "/v1/runs/{id}/cancel", SCOPE_ANY | ROUTE_LOOK, HTTP_BODY_NONE, 0,
		api_run_cancel },
};

const struct http_route *routes_get(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(routes);
	return routes;
}
