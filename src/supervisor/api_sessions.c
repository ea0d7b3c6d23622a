/* /v1/sessions and /v1/sessions/{key}: look, list, close. */
#include "supervisor/api.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/macro.h"
#include "house/house.h"
#include "http/request.h"
#include "http/respond.h"
#include "supervisor/caller.h"
#include "supervisor/supervisor.h"
#include "json/json.h"

static void session_fill(struct json *object, const struct house_session_info *info)
{
	static const char *const of_kept[] = { "created", "files", "bytes", "disk_bytes" };

	json_set_cstr(object, "session", info->key);
	json_set_cstr(object, "tenant", info->tenant);
	json_set_cstr(object, "profile", info->profile);
	json_set_cstr(object, "policy", info->is_kept ? HOUSE_KEPT : HOUSE_EPHEMERAL);
	json_set_cstr(object, "state", info->is_live ? HOUSE_LIVE : HOUSE_STATE);
	json_set_cstr_or_null(object, "run_id", info->run_id);
	json_set_cstr(object, "phase", info->is_stopped ? "stopped" : "active");
	json_set_count(object, "runs", info->runs);
	json_set_null(object, "opened_ms_ago"); /* as for one that has stopped */
	json_set_null(object, "closes_in_ms");
	if (!info->is_stopped) {
		json_set_count(object, "opened_ms_ago", info->opened_ms_ago);
		json_set_count(object, "closes_in_ms", info->closes_in_ms);
	}
	json_set_count(object, "idle_ms", info->idle_ms);
	json_set_count(object, "expires_in_ms", info->expires_in_ms);
	if (!info->is_kept) {
		for (size_t i = 0; i < ARRAY_SIZE(of_kept); i++)
			json_set_null(object, of_kept[i]);
		return;
	}
	api_time_set(object, "created", info->created_ns);
	json_set_count(object, "files", info->files);
	json_set_count(object, "bytes", info->files_bytes);
	json_set_count(object, "disk_bytes", info->stored_bytes);
}

void api_session_get(struct http_request *request)
{
	struct house_session_info info;
	char key[ID_KEY_MAX + 1];
	struct json *body;
	struct fault fault;

	if (!api_key_get(request, key))
		return;
	if (house_look(supervisor_of(request)->house, caller_get(request)->tenant, key, &info,
		    &fault) < 0) {
		http_respond_fault(request, &fault);
		return;
	}
	body = json_object_new();
	session_fill(body, &info);
	api_respond(request, 200, body);
}

void api_session_list(struct http_request *request)
{
	const struct caller *caller = caller_get(request);
	AUTO_FREE struct house_session_info *list = NULL;
	struct json *body = json_object_new(), *rows = json_set_array(body, "sessions");
	size_t n = house_list(supervisor_of(request)->house,
		caller_is_admin(caller) ? NULL : caller->tenant, &list);

	for (size_t i = 0; i < n; i++)
		session_fill(json_add_object(rows), &list[i]);
	api_respond(request, 200, body);
}

/* What ends a session as a whole: house_stop or house_close. event: the audit log's word for it. */
static void session_end(struct http_request *request, const char *event,
	int (*end)(
		struct house *house, const char *tenant, const char *key, struct fault *ret_fault))
{
	struct supervisor *supervisor = supervisor_of(request);
	AUTO_JSON struct json *line = NULL;
	char key[ID_KEY_MAX + 1];
	struct fault fault;

	if (!api_key_get(request, key))
		return;
	if (end(supervisor->house, caller_get(request)->tenant, key, &fault) < 0) {
		http_respond_fault(request, &fault);
		return;
	}
	line = audit_line(request, event);
	json_set_cstr(line, "session", key);
	audit_write(&supervisor->audit, line);
	http_respond_empty(request, 204);
}

void api_session_stop(struct http_request *request)
{
	session_end(request, "session_stop", house_stop);
}

void api_session_close(struct http_request *request)
{
	session_end(request, "session_close", house_close);
}
