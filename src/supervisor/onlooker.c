/*
 * Theory of operation: the event stream begins with the first event, not before. So what is refused
 * at once (409, 422, 429 ...) is an ordinary response with its status, in both modes, and only what
 * fails later is an `error` event. Decision 21.
 */
#include "supervisor/onlooker.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/macro.h"
#include "base/str.h"
#include "base/utf8.h"
#include "http/problem.h"
#include "http/request.h"
#include "http/respond.h"
#include "http/sse.h"
#include "sandbox/answer.h"
#include "sandbox/results.h"
#include "supervisor/audit.h"
#include "supervisor/claim.h"
#include "json/json.h"

#include <errno.h>
#include <inttypes.h>

/* How long one run's output may wait for its client in all: enough for any that reads. */
#define OUTPUT_PATIENCE_US (2 * USEC_PER_S)
/* Bytes of output in one event; of the event, each byte as \\u00XX and {"text":""} around it. */
#define OUTPUT_PIECE	 ((size_t)8192)
#define OUTPUT_EVENT_MAX (OUTPUT_PIECE * 6 + 64)

static_assert(OUTPUT_EVENT_MAX < HTTP_SSE_BUFFER_MAX - 64, "it fits into the ring");

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

/* One event of output that need not arrive. Returns 0, -EAGAIN when the client is too slow for it,
 * or -EPIPE. */
static int piece_offer(struct onlooker *onlooker, enum run_stream stream, struct str text)
{
	AUTO_BUF struct buf line = BUF_INIT(OUTPUT_EVENT_MAX);
	struct json *data = json_object_new();
	usec_t began_us = clock_now_us(), waited_us;
	int r;

	json_set_text(data, "text", text);
	(void)json_write(data, &line);
	json_free(data);
	r = http_sse_offer(onlooker->request, stream == RUN_STDOUT ? "stdout" : "stderr",
		buf_get_slice(&line), onlooker->patience_us);
	waited_us = clock_now_us() - began_us;
	onlooker->patience_us -= MIN(waited_us, onlooker->patience_us);
	return r;
}

/* Says how much was left out since the last event of the stream. Returns as piece_offer. */
static int gap_offer(struct onlooker *onlooker, enum run_stream stream)
{
	char text[64];
	int r;

	if (onlooker->left_out[stream] == 0)
		return 0;
	(void)str_format(text, sizeof(text), "\n... %" PRIu64 " bytes left out ...\n",
		onlooker->left_out[stream]);
	r = piece_offer(onlooker, stream, str_from(text));
	if (r == 0)
		onlooker->left_out[stream] = 0;
	return r;
}

/* The first bytes of text up to OUTPUT_PIECE, whole characters as long as they are some. */
static struct str piece_take(struct str *text)
{
	struct str piece = { .p = text->p, .n = MIN(text->n, OUTPUT_PIECE) };

	if (piece.n < text->n)
		piece.n -= utf8_unfinished(piece.p, piece.n);
	text->p += piece.n;
	text->n -= piece.n;
	return piece;
}

/* The script never waits for who reads: what a client is too slow for is left out, and said. It is
 * in the end's whole answer, as far as that goes. */
static int on_output(struct call_watch *watch, enum run_stream stream, struct str text)
{
	struct onlooker *onlooker = container_of(watch, struct onlooker, watch);

	while (onlooker->wants_events && text.n > 0) {
		struct str piece = piece_take(&text);
		int r = gap_offer(onlooker, stream);

		if (r == 0)
			r = piece_offer(onlooker, stream, piece);
		if (r == -EAGAIN)
			onlooker->left_out[stream] += piece.n;
		else if (r < 0)
			return r;
	}
	return 0;
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
		.patience_us = OUTPUT_PATIENCE_US,
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
		onlooker->patience_us = OUTPUT_PATIENCE_US; /* the run is over */
		for (int i = 0; i < RUN_STREAM_MAX; i++)
			(void)gap_offer(onlooker, (enum run_stream)i);
		(void)event_send(onlooker, "end", TAKE_PTR(answer));
		return;
	}
	(void)json_write(answer, &text);
	http_respond_take(onlooker->request, 200, "application/json", &text);
}
