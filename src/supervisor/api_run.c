/* POST /v1/sessions/{key}/run and POST /v1/runs/{id}/cancel. */
#include "supervisor/api.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "call/call.h"
#include "call/run_form.h"
#include "crypt/hash.h"
#include "http/request.h"
#include "http/respond.h"
#include "sandbox/language.h"
#include "supervisor/caller.h"
#include "supervisor/claim.h"
#include "supervisor/onlooker.h"
#include "supervisor/supervisor.h"
#include "json/json.h"

#include <errno.h>

/* Bytes of a body from which on a tenant parses one at a time: one that is smaller cannot become
 * much. */
#define LARGE_BODY (256u * 1024)

static int form_parse(struct http_request *request, struct run_form *form, struct fault *ret_fault)
{
	struct str body = http_body_get(request);
	int r;

	if (body.n <= LARGE_BODY)
		return run_form_parse(body, form, ret_fault);
	claim_parse_begin(request);
	r = run_form_parse(body, form, ret_fault);
	claim_parse_end(request);
	return r;
}

static void files_in_set(struct json *line, const struct call_request *call)
{
	struct json *files = json_set_array(line, "files_in");
	size_t path_bytes = 0;

	json_set_count(line, "files_in_count", call->n_files);
	for (size_t i = 0; i < call->n_files && i < ONLOOKER_FILES_MAX; i++) {
		const struct call_file *file = &call->files[i];
		struct json *row;

		path_bytes += file->path.n;
		if (path_bytes > ONLOOKER_PATHS_MAX)
			break;
		row = json_add_object(files);
		json_set_text(row, "path", file->path);
		json_set_count(
			row, "bytes", file->is_base64 ? file->content.n / 4 * 3 : file->content.n);
	}
}

static void end_set(struct json *line, const struct call_result *result)
{
	if (!result->outcome) {
		json_set_cstr(line, "refused", fault_name(result->fault.code));
		return;
	}
	json_set_cstr(line, "outcome", result->outcome);
	json_set_cstr(line, "reason", result->reason);
	json_set_integer(line, "code", result->code);
	json_set_count(line, "queue_ms", result->queue_us / USEC_PER_MS);
	json_set_count(line, "wall_ms", result->wall_us / USEC_PER_MS);
	json_set_count(line, "output_bytes", result->output_bytes);
}

static void audit_run(const struct onlooker *onlooker, const struct call_request *call,
	const struct call_result *result)
{
	struct json *line = onlooker->line;
	struct hash hash = hash_make(call->code);
	char text[HASH_TEXT_SIZE];

	hash_format(&hash, text);
	json_set_cstr(line, "session", call->key);
	json_set_cstr(line, "run_id", result->run_id);
	json_set_cstr(line, "profile", result->profile);
	json_set_cstr(line, "language", language_name(call->language));
	json_set_cstr(line, "code_sha256", text);
	json_set_count(line, "code_bytes", call->code.n);
	json_set_count(line, "stdin_bytes", call->stdin_bytes.n);
	files_in_set(line, call);
	json_set_count(line, "files_out_count", onlooker->n_files);
	(void)json_set_array(line, "denied_hosts");
	end_set(line, result);
	audit_write(&supervisor_of(onlooker->request)->audit, line);
}

static void log_run(const struct onlooker *onlooker, const struct call_request *call,
	const struct call_result *result)
{
	if (result->outcome)
		log_info("msg=\"run finished\" request=%s run=%s session=%s tenant=%s outcome=%s "
			 "reason=%s code=%d queue_ms=%llu ms=%llu output_bytes=%llu",
			http_id_get(onlooker->request), result->run_id, call->key, call->tenant,
			result->outcome, result->reason, result->code,
			(unsigned long long)(result->queue_us / USEC_PER_MS),
			(unsigned long long)(result->wall_us / USEC_PER_MS),
			(unsigned long long)result->output_bytes);
	else
		log_info("msg=\"run refused\" request=%s session=%s tenant=%s code=%s stage=%s",
			http_id_get(onlooker->request), call->key, call->tenant,
			fault_name(result->fault.code), LOG_VALUE(result->fault.stage));
}

static void form_run(struct http_request *request, struct run_form *form, const char *key)
{
	const struct caller *caller = caller_get(request);
	struct call_request *call = &form->call;
	struct call_result result;
	struct onlooker onlooker;

	onlooker_init(&onlooker, request, key);
	call->tenant = caller->tenant;
	call->key = key;
	call->profiles = caller_profiles(caller);
	call->policy_default = caller->policy;
	call->client_fd = http_client_fd_get(request);
	call->watch = &onlooker.watch;
	(void)call_run(supervisor_of(request)->house, call, &result);
	/* First the log, so that an answer in hand means that it is written. */
	audit_run(&onlooker, call, &result);
	log_run(&onlooker, call, &result);
	/* Not held for a reader who may be slow. */
	run_form_fini(form);
	onlooker_end(&onlooker, &result);
	onlooker_fini(&onlooker);
}

void api_run(struct http_request *request)
{
	AUTO_FREE struct run_form *form = NULL;
	char key[ID_KEY_MAX + 1];
	struct fault fault;

	if (!api_key_get(request, key))
		return;
	form = xcalloc(1, sizeof(*form));
	if (form_parse(request, form, &fault) < 0)
		http_respond_fault(request, &fault);
	else
		form_run(request, form, key);
	run_form_fini(form);
}

void api_run_cancel(struct http_request *request)
{
	struct supervisor *supervisor = supervisor_of(request);
	const struct caller *caller = caller_get(request);
	struct str id = http_parameter_get(request, "id");
	AUTO_JSON struct json *line = NULL;
	char run_id[HOUSE_RUN_ID_MAX + 1];
	struct fault fault;
	int r;

	if (str_format(run_id, sizeof(run_id), "%.*s", STR_ARG(id)) < 0)
		run_id[0] = '\0'; /* which no run has */
	r = house_cancel(supervisor->house, caller->tenant, run_id, &fault);
	if (r == -ENOENT && caller_is_admin(caller))
		r = house_cancel(supervisor->house, NULL, run_id, &fault);
	if (r < 0) {
		http_respond_fault(request, &fault);
		return;
	}
	line = audit_line(request, "cancel");
	json_set_cstr(line, "run_id", run_id);
	audit_write(&supervisor->audit, line);
	http_respond_empty(request, 202);
}
