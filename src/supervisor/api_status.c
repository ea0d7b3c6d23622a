/* /health, /ready, /v1/info, /openapi.yaml: none of them waits for a run. */
#include "supervisor/api.h"

#include "base/fault.h"
#include "call/call.h"
#include "call/spares.h"
#include "call/warm.h"
#include "house/canary.h"
#include "house/house.h"
#include "http/request.h"
#include "http/respond.h"
#include "pool/pool.h"
#include "sandbox/answer.h"
#include "sandbox/profile.h"
#include "sandbox/run.h"
#include "supervisor/caller.h"
#include "supervisor/supervisor.h"
#include "wire/limits.h"
#include "json/json.h"

static const char *backend_name(uint32_t backend)
{
	switch (backend) {
	case WIRE_CGROUP_V1:
		return "cgroup v1";
	case WIRE_CGROUP_V2:
		return "cgroup v2";
	default:
		return "none";
	}
}

/* What jaild has said of this host; null while there is none. */
static void jail_set(struct json *body, const struct supervisor *supervisor)
{
	struct wire_status_is status;

	if (!pool_status(house_pool_get(supervisor->house), &status)) {
		json_set_null(body, "backend");
		json_set_null(body, "protections");
		return;
	}
	json_set_cstr(body, "backend", backend_name(status.backend));
	answer_protections_set(body, status.protections);
	json_set_count(body, "landlock_abi", status.landlock_abi);
}

void api_health(struct http_request *request)
{
	struct json *body = json_object_new();

	json_set_cstr(body, "status", "ok");
	if (caller_get(request)->is_known) {
		json_set_cstr(body, "version", CLOCHE_VERSION);
		jail_set(body, supervisor_of(request));
	}
	api_respond(request, 200, body);
}

void api_ready(struct http_request *request)
{
	struct supervisor *supervisor = supervisor_of(request);
	bool is_ready = canary_is_ready(supervisor->canary);
	struct canary_result last;
	struct fault fault;
	struct json *body;

	canary_get(supervisor->canary, &last);
	if (!is_ready) {
		fault_set_stage(&fault, last.fault.stage, "%s",
			last.fault.text[0] ? last.fault.text
					   : "no canary run has worked within the last minute");
		http_respond_fault(request, &fault);
		return;
	}
	body = json_object_new();
	json_set_cstr(body, "status", "ready");
	json_set_count(body, "canary_ms_ago", last.ms_ago);
	json_set_count(body, "canary_took_ms", last.took_ms);
	api_respond(request, 200, body);
}

static bool is_allowed(const struct caller *caller, const char *profile)
{
	const char *const *allowed = caller_profiles(caller);

	if (!allowed)
		return true;
	for (; *allowed; allowed++)
		if (strcmp(*allowed, profile) == 0)
			return true;
	return false;
}

static void profiles_set(struct json *body, const struct caller *caller)
{
	struct json *rows = json_set_array(body, "profiles");
	const char *profile;

	for (unsigned i = 0; (profile = profile_name(i)); i++) {
		struct wire_limits limits;
		struct fault fault;
		struct json *row;
		const char *name;
		enum limit_unit unit;
		uint64_t value;

		if (!is_allowed(caller, profile) || profile_get(profile, &limits, &fault) < 0)
			continue;
		row = json_add_object(rows);
		json_set_cstr(row, "name", profile);
		for (unsigned k = 0; wire_limits_get(&limits, k, &name, &value, &unit) == 0; k++)
			if (unit == LIMIT_FLAG)
				json_set_bool(row, name, value != 0);
			else
				json_set_count(row, name, value);
	}
}

static void limits_set(struct json *body, const struct settings *settings)
{
	struct json *limits = json_set_object(body, "limits");

	json_set_count(limits, "code_bytes", PACKAGE_CODE_MAX);
	json_set_count(limits, "stdin_bytes", RUN_STDIN_MAX);
	json_set_count(limits, "files_bytes", CALL_FILES_BYTES_MAX);
	json_set_count(limits, "files", CALL_FILES_MAX);
	json_set_count(limits, "args", PACKAGE_ARGS_MAX);
	json_set_count(limits, "args_bytes", PACKAGE_ARG_BYTES_MAX);
	json_set_count(limits, "env", PACKAGE_ENV_MAX);
	json_set_count(limits, "env_bytes", PACKAGE_ENV_BYTES_MAX);
	json_set_count(limits, "output_bytes", (uint64_t)2 * OUTPUT_HALF_BYTES);
	json_set_count(limits, "max_sessions", settings->max_sessions);
	json_set_count(limits, "session_idle_s", settings->session_idle_s);
	json_set_count(limits, "session_max_s", settings->session_max_s);
	json_set_count(limits, "queue_wait_s", settings->queue_wait_s);
	json_set_count(limits, "queue_max", settings->queue_max);
	json_set_count(limits, "kept_idle_s", settings->kept_idle_s);
	json_set_count(limits, "kept_unused_s", settings->kept_unused_s);
	json_set_count(limits, "kept_max", settings->kept_max);
	json_set_count(limits, "store_max_bytes", settings->store_max_bytes);
}

void api_info(struct http_request *request)
{
	const struct supervisor *supervisor = supervisor_of(request);
	struct json *body = json_object_new(), *policies, *states;
	struct wire_status_is status = { 0 };

	json_set_cstr(body, "name", "cloche");
	json_set_cstr(body, "version", CLOCHE_VERSION);
	policies = json_set_array(body, "policies");
	json_add_text(policies, STR(HOUSE_EPHEMERAL));
	json_add_text(policies, STR(HOUSE_KEPT));
	states = json_set_array(body, "states");
	json_add_text(states, STR(HOUSE_STATE));
	(void)pool_status(house_pool_get(supervisor->house), &status);
	if (status.protections & WIRE_PROTECT_CGROUP_KILL) /* the tree that freezes too */
		json_add_text(states, STR(HOUSE_LIVE));
	json_set_cstr(body, "default_profile", supervisor->settings.profile);
	profiles_set(body, caller_get(request));
	limits_set(body, &supervisor->settings);
	spares_tell(house_pool_get(supervisor->house), (unsigned)supervisor->settings.spares, body);
	info_set(&supervisor->info, body);
	warm_set(supervisor->house, body);
	api_respond(request, 200, body);
}

/* The contract, as it was built in. */
static const struct {
	const char *name;
	const char *text;
	size_t size;
} contract[] = {
#include "supervisor/openapi.inc"
};

void api_openapi(struct http_request *request)
{
	http_respond(request, 200, "application/yaml",
		(struct str){ .p = contract[0].text, .n = contract[0].size });
}
