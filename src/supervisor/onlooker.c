/*
 * Theory of operation: the event stream begins with the first event, not before. So what is refused
 * at once (409, 422, 429 ...) is an ordinary response with its status, in both modes, and only what
 * fails later is an `error` event. Decision 21.
 */
#include "supervisor/onlooker.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/macro.h"
#include "http/problem.h"
#include "http/request.h"
#include "http/respond.h"
#include "http/sse.h"
#include "sandbox/answer.h"
#include "sandbox/results.h"
#include "supervisor/audit.h"
#include "supervisor/claim.h"
#include "json/json.h"

/* Sends the tree, which is freed before: a slow reader holds its text alone. */
static int event_send(struct onlooker *onlooker, const char *name, struct json *data)
{
	AUTO_BUF struct buf text = BUF_INIT(json_measure(data));

	if (!onlooker->has_started)
		http_sse_start(onlooker->request);
	onlooker->has_started = true;
	(void)json_write(data, &text);
	json_free(data);
	return http_sse_event(onlooker->request, name, buf_get_slice(&text));
}

static int on_queued(struct call_watch *watch, unsigned position)
{
	struct onlooker *onlooker = container_of(watch, struct onlooker, watch);
	struct json *data;

	if (!onlooker->wants_events)
		return 0;
	data = json_object_new();
	json_set_count(data, "position", position);
	return event_send(onlooker, "queued", data);
}

static int on_started(struct call_watch *watch, const char *run_id, const char *session_state)
{
	struct onlooker *onlooker = container_of(watch, struct onlooker, watch);
	struct json *data;

	if (!onlooker->wants_events)
		return 0;
	data = json_object_new();
	json_set_cstr(data, "run_id", run_id);
	json_set_cstr(data, "session", onlooker->session);
	json_set_cstr(data, "session_state", session_state);
	return event_send(onlooker, "started", data);
}

static int on_output(struct call_watch *watch, enum run_stream stream, struct str text)
{
	struct onlooker *onlooker = container_of(watch, struct onlooker, watch);
	struct json *data;

	if (!onlooker->wants_events)
		return 0;
	data = json_object_new();
	json_set_text(data, "text", text);
	return event_send(onlooker, stream == RUN_STDOUT ? "stdout" : "stderr", data);
}

static int on_result(struct call_watch *watch, const struct report_result *result)
{
	struct onlooker *onlooker = container_of(watch, struct onlooker, watch);

	if (!onlooker->wants_events)
		return 0;
	return event_send(onlooker, "result", results_make_one(result));
}

static int on_file(struct call_watch *watch, const struct answer_file *file)
{
	struct onlooker *onlooker = container_of(watch, struct onlooker, watch);
	struct json *data;

	onlooker->path_bytes += file->path.n;
	if (onlooker->n_files++ < ONLOOKER_FILES_MAX &&
		onlooker->path_bytes <= ONLOOKER_PATHS_MAX) {
		struct json *row = json_add_object(onlooker->files);

		json_set_text(row, "path", file->path);
		json_set_count(row, "bytes", file->size_bytes);
		json_set_cstr(row, "change", change_name(file->change));
	}
	if (!onlooker->wants_events)
		return 0;
	data = answer_file_make(file);
	return event_send(onlooker, "file", data);
}

void onlooker_init(struct onlooker *onlooker, struct http_request *request, const char *session)
{
	*onlooker = (struct onlooker){
		.watch = { .on_queued = on_queued,
			.on_started = on_started,
			.on_output = on_output,
			.on_result = on_result,
			.on_file = on_file },
		.request = request,
		.session = session,
		.wants_events = http_sse_is_accepted(request),
		.line = audit_line(request, "run"),
	};
	onlooker->files = json_set_array(onlooker->line, "files_out");
}

void onlooker_fini(struct onlooker *onlooker)
{
	json_free(onlooker->line);
}

static void fault_tell(struct onlooker *onlooker, const struct call_result *result)
{
	AUTO_BUF struct buf problem = BUF_INIT(PROBLEM_SIZE_MAX);
	char seconds[16];

	if (onlooker->has_started) {
		(void)problem_write(&result->fault, &problem);
		(void)http_sse_event(onlooker->request, "error", buf_get_slice(&problem));
		return;
	}
	if (result->retry_after_s > 0) {
		(void)str_format(seconds, sizeof(seconds), "%u", result->retry_after_s);
		http_header_add(onlooker->request, "Retry-After", seconds);
	}
	http_respond_fault(onlooker->request, &result->fault);
}

void onlooker_end(struct onlooker *onlooker, struct call_result *result)
{
	AUTO_JSON struct json *answer = TAKE_PTR(result->answer);
	AUTO_BUF struct buf text = BUF_INIT(0);

	if (!answer) {
		fault_tell(onlooker, result);
		return;
	}
	text.max = json_measure(answer);
	claim_certain_answer(onlooker->request, text.max);
	if (onlooker->wants_events) {
		(void)event_send(onlooker, "end", TAKE_PTR(answer));
		return;
	}
	(void)json_write(answer, &text);
	http_respond_take(onlooker->request, 200, "application/json", &text);
}
