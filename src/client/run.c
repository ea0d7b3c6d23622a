/*
 * Theory of operation: both forms send the same body. The JSON form waits in silence for one answer
 * within one bound. The other reads events as they come: a stream that is silent for three of the
 * supervisor's comment lines is dead. `end` carries the same answer, `error` a problem; a stream
 * that ends with neither was cut, and its run with it.
 */
#include "client/run.h"

#include "base/alloc.h"
#include "base/macro.h"
#include "client/call.h"
#include "client/events.h"
#include "client/problem.h"
#include "client/run_body.h"
#include "json/json.h"
#include "json/parse.h"

#include <errno.h>

#define ANSWER_MS  150000 /* roomy's 120 s, the queue's 5, and some */
#define SILENCE_MS 50000  /* three comment lines, one each 15 s, and some */
#define STREAM_SIZE_MAX                                                                            \
	(64u * 1024 * 1024) /* bytes of all events: 1 MiB of each stream, escaped                  \
			     */

struct streaming {
	struct call call;
	struct events events;
	struct sandbox_watch *watch;
	struct json *end;  /* owned */
	const char *wrong; /* what is malformed, a literal, or NULL */
	struct fault fault;
	bool is_refused; /* by an error event: fault */
	bool is_stopped; /* by the watch */
};

static int on_wake(struct call *call)
{
	struct streaming *streaming = container_of(call, struct streaming, call);
	struct sandbox_watch *watch = streaming->watch;

	return watch->on_wake ? watch->on_wake(watch) : 0;
}

static int told(struct streaming *streaming, int r)
{
	if (r < 0)
		streaming->is_stopped = true;
	return r;
}

static int tell_output(struct streaming *streaming, bool is_stderr, const struct json *event)
{
	struct sandbox_watch *watch = streaming->watch;
	struct str text;

	if (json_as_text(json_get(event, "text"), &text) < 0)
		return -EBADMSG;
	return told(streaming, watch->on_output ? watch->on_output(watch, is_stderr, text) : 0);
}

static int tell_started(struct streaming *streaming, const struct json *event)
{
	struct sandbox_watch *watch = streaming->watch;
	struct str run_id, session_state;

	if (json_as_text(json_get(event, "run_id"), &run_id) < 0 ||
		json_as_text(json_get(event, "session_state"), &session_state) < 0)
		return -EBADMSG;
	return told(
		streaming, watch->on_started ? watch->on_started(watch, run_id, session_state) : 0);
}

static int tell_queued(struct streaming *streaming, const struct json *event)
{
	struct sandbox_watch *watch = streaming->watch;
	int64_t position;

	if (json_as_integer(json_get(event, "position"), &position) < 0 || position < 0 ||
		position > INT32_MAX)
		return -EBADMSG;
	return told(streaming, watch->on_queued ? watch->on_queued(watch, (unsigned)position) : 0);
}

/* One event; names that we do not know may come with a newer supervisor. */
static int event_tell(struct streaming *streaming, struct str name, struct json **event)
{
	if (str_eq(name, STR("stdout")) || str_eq(name, STR("stderr")))
		return tell_output(streaming, str_eq(name, STR("stderr")), *event);
	if (str_eq(name, STR("started")))
		return tell_started(streaming, *event);
	if (str_eq(name, STR("queued")))
		return tell_queued(streaming, *event);
	if (str_eq(name, STR("end")))
		streaming->end = TAKE_PTR(*event);
	if (str_eq(name, STR("error"))) {
		streaming->is_refused = true;
		return problem_from_json(*event, &streaming->fault);
	}
	return 0;
}

static int on_event(struct events *events, struct str name, struct str data)
{
	struct streaming *streaming = container_of(events, struct streaming, events);
	AUTO_JSON struct json *event = NULL;
	struct fault fault;
	int r;

	if (streaming->end || streaming->is_refused)
		return 0; /* nothing after the last one counts */
	if (json_parse_ours(data, &event, &fault) < 0) {
		streaming->wrong = "an event is no JSON";
		return -EBADMSG;
	}
	r = event_tell(streaming, name, &event);
	if (r < 0 && !streaming->is_stopped)
		streaming->wrong = "an event lacks a member";
	return r;
}

static int on_bytes(struct call *call, struct str bytes)
{
	struct streaming *streaming = container_of(call, struct streaming, call);
	int r = events_feed(&streaming->events, bytes);

	if (r == -ENOBUFS && !streaming->wrong)
		streaming->wrong = "an event is too large";
	return r;
}

/* Path, body and bounds that both forms share. */
static int run_call(struct call *call, const struct sandbox *sandbox,
	const struct sandbox_run_request *request, struct buf *body,
	struct sandbox_trouble *ret_trouble)
{
	const char *what = NULL;
	int r;

	call_path_text(call, "/v1/sessions");
	r = call_path_segment(call, str_from(request->session));
	call_path_text(call, "/run");
	if (r < 0) {
		(void)trouble_set(ret_trouble, sandbox, r, "'%.64s' is no key of a session",
			request->session);
		ret_trouble->fault.code = FAULT_BAD_REQUEST;
		return -EINVAL;
	}
	r = run_body_write(request, body, &what);
	if (r < 0) {
		(void)trouble_set(ret_trouble, sandbox, r, "%s %s", r == -EILSEQ ? what : "the run",
			r == -EILSEQ
				? "is not UTF-8 text: it cannot travel as JSON; send it as a file"
				: "is too large; upload files one by one");
		ret_trouble->fault.code = FAULT_BAD_REQUEST;
		return -EINVAL;
	}
	call->fetch.content_type = "application/json";
	call->fetch.body = buf_get_slice(body);
	call->fetch.total_ms =
		(unsigned)MIN(request->answer_ms ? request->answer_ms : (uint64_t)ANSWER_MS,
			(uint64_t)UINT32_MAX);
	return 0;
}

static int answer_take(const struct sandbox *sandbox, struct json *whole,
	struct sandbox_answer *ret_answer, struct sandbox_trouble *ret_trouble)
{
	const char *why;

	if (sandbox_answer_read(whole, ret_answer, &why) == 0)
		return 0;
	return trouble_set(ret_trouble, sandbox, -EPROTO,
		"the answer's member '%s' is missing or malformed", why);
}

static void watch_set(struct streaming *streaming, struct sandbox_watch *watch)
{
	static const struct sandbox_watch nobody = { .wake_fd = -1 };

	streaming->watch = watch ? watch : (struct sandbox_watch *)(uintptr_t)&nobody;
	streaming->call.on_wake = on_wake;
	streaming->call.fetch.has_wake = streaming->watch->has_wake;
	streaming->call.fetch.wake_fd = streaming->watch->wake_fd;
}

int sandbox_run(const struct sandbox *sandbox, const struct sandbox_run_request *request,
	struct sandbox_watch *watch, struct sandbox_answer *ret_answer,
	struct sandbox_trouble *ret_trouble)
{
	AUTO_BUF struct buf body = BUF_INIT(JSON_SIZE_MAX);
	struct streaming streaming = { .wrong = NULL };
	struct json *whole = NULL;
	int r;

	call_init(&streaming.call, sandbox, "POST", JSON_SIZE_MAX);
	watch_set(&streaming, watch);
	r = run_call(&streaming.call, sandbox, request, &body, ret_trouble);
	if (r == 0)
		r = call_json(&streaming.call, sandbox, &whole, ret_trouble);
	if (r == 0)
		r = answer_take(sandbox, whole, ret_answer, ret_trouble);
	call_fini(&streaming.call);
	return r;
}

/* What the stream came to, when the call ended with r. */
static int stream_judge(struct streaming *streaming, int r, const struct sandbox *sandbox,
	struct sandbox_answer *ret_answer, struct sandbox_trouble *ret_trouble)
{
	if (streaming->wrong)
		return trouble_set(ret_trouble, sandbox, -EPROTO, "%s", streaming->wrong);
	if (streaming->is_refused) {
		*ret_trouble = (struct sandbox_trouble){ .fault = streaming->fault,
			.retry_after_s = streaming->call.answer.retry_after_s,
			.is_told = true };
		return -EREMOTEIO;
	}
	if (streaming->end) /* the rest of the connection does not matter any more */
		return answer_take(sandbox, TAKE_PTR(streaming->end), ret_answer, ret_trouble);
	if (r < 0)
		return r;
	return trouble_set(ret_trouble, sandbox, -ECONNRESET,
		"the events ended before the run did; it was ended with them");
}

int sandbox_run_stream(const struct sandbox *sandbox, const struct sandbox_run_request *request,
	struct sandbox_watch *watch, struct sandbox_answer *ret_answer,
	struct sandbox_trouble *ret_trouble)
{
	AUTO_BUF struct buf body = BUF_INIT(JSON_SIZE_MAX);
	struct streaming streaming = { .wrong = NULL };
	struct call *call = &streaming.call;
	int r;

	call_init(call, sandbox, "POST", 0);
	events_init(&streaming.events, JSON_SIZE_MAX, on_event);
	watch_set(&streaming, watch);
	call->fetch.accept = "text/event-stream";
	call->fetch.answer_max = STREAM_SIZE_MAX;
	call->fetch.silence_ms = SILENCE_MS;
	call->type = "text/event-stream";
	call->is_end_by_close_fine = true;
	call->on_bytes = on_bytes;
	r = run_call(call, sandbox, request, &body, ret_trouble);
	if (r == 0)
		r = stream_judge(&streaming, call_run(call, sandbox, ret_trouble), sandbox,
			ret_answer, ret_trouble);
	json_free(streaming.end);
	events_fini(&streaming.events);
	call_fini(call);
	return r;
}
