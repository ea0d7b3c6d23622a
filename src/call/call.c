/*
 * Theory of operation: the order of one call is the order of execute(). The run's id is known to
 * the registry from before the queue until after the end, so that a cancel finds it at any moment;
 * the session is ours from visit_begin to visit_end.
 *
 * Four things end a run before its time: a cancel, the closing of its session, the drain, and a
 * client that is gone. All come as reasons of one attention, whose descriptor run_wait polls. The
 * answer is the same: run_cancel, and then the ordinary end, so that there is one way out.
 *
 * A run whose files could not be listed afterwards (its session was closed under it) has still
 * ended and is answered; it then says that the list is not whole.
 */
#include "call/call.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/macro.h"
#include "call/bring.h"
#include "call/check.h"
#include "call/stream.h"
#include "house/house.h"
#include "house/visit/live.h"
#include "house/visit/visit.h"
#include "jail/files/changes.h"
#include "pool/pool.h"
#include "sandbox/end.h"
#include "sandbox/language.h"
#include "sandbox/results.h"
#include "turns/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct call {
	struct house *house;
	const struct call_request *request;
	struct call_result *result;
	struct attention attention;
	struct visit_request asked;
	struct visit visit;
	uint64_t wall_ms;
	struct buf code;
	struct package package;
	char *words[PACKAGE_ARGS_MAX + PACKAGE_ENV_MAX]; /* of the package; owned */
	size_t n_words;
	struct run run;
	struct stream streams[RUN_STREAM_MAX];
	struct snapshot before, after;
	bool is_listed;	  /* after is there */
	uint64_t mark;	  /* a moment from which on after holds */
	uint64_t dropped; /* things that a kept session does not keep */
	bool is_live;	  /* a call of the session's live interpreter */
	const char *session_state;
	struct live_loss loss;
};

static int on_queued(struct visit_request *asked, unsigned position)
{
	struct call *call = container_of(asked, struct call, asked);
	struct call_watch *watch = call->request->watch;

	return watch && watch->on_queued ? watch->on_queued(watch, position) : 0;
}

/* The pipe is drained on whoever looks: who is gone cancels, and nothing is done to the script's
 * writing. */
static int on_chunk(struct run *run, enum run_stream which, struct str chunk)
{
	struct call *call = container_of(run, struct call, run);

	if (stream_feed(&call->streams[which], chunk) < 0)
		attention_raise(&call->attention, ATTENTION_GONE);
	return 0;
}

static const char *word_take(struct call *call, struct str word)
{
	char *text = xasprintf("%.*s", STR_ARG(word));

	call->words[call->n_words++] = text;
	return text;
}

/* Counts and sizes were checked. */
static int package_fill(struct call *call)
{
	const struct call_request *request = call->request;
	struct package *package = &call->package;
	int r;

	buf_init(&call->code, PACKAGE_CODE_MAX);
	r = language_normalise(request->language, request->code, &call->code);
	package->language = request->language;
	package->code = buf_get_cstr(&call->code);
	package->code_size = call->code.len;
	for (size_t i = 0; i < request->n_args; i++)
		package->args[package->n_args++] = word_take(call, request->args[i]);
	for (size_t i = 0; i < request->n_env; i++)
		package->env[package->n_env++] = word_take(call, request->env[i]);
	return r;
}

/* The request's time against the profile that turned out to hold. */
static int wall_choose(struct call *call)
{
	uint64_t limit_ms = call->visit.limits->wall_ms;

	call->wall_ms = call->request->timeout_ms > 0 ? call->request->timeout_ms : limit_ms;
	return visit_check_wall(
		call->wall_ms, call->visit.profile, call->visit.limits, &call->result->fault);
}

/* The home with the hashes that show a write through a mapping; of a home that takes too long to
 * read, on a machine that is busy elsewhere, without. */
static int list(struct call *call, uint32_t flags, struct snapshot *ret_snapshot)
{
	int r = visit_list(&call->visit, flags | WIRE_LIST_HASH, ret_snapshot);

	return r == -ETIMEDOUT ? visit_list(&call->visit, flags, ret_snapshot) : r;
}

/* Files in, and what is there before the run. */
static int prepare(struct call *call)
{
	const struct call_request *request = call->request;
	int r = bring_files(&call->visit, request->files, request->n_files, &call->result->fault);

	if (r < 0 || visit_listing_take(&call->visit, &call->before))
		return r;
	r = list(call, WIRE_LIST_SETTLE, &call->before);
	if (r < 0)
		call->result->fault = call->visit.jaild->fault;
	return r;
}

static const char *session_state(const struct call *call)
{
	if (call->session_state)
		return call->session_state;
	if (call->visit.reset_reason)
		return "reset"; /* also when an upload opened the session anew */
	return call->visit.is_new ? "new" : "reused";
}

static void tell_started(struct call *call)
{
	struct call_watch *watch = call->request->watch;

	if (watch && watch->on_started &&
		watch->on_started(watch, call->result->run_id, session_state(call)) < 0)
		attention_raise(&call->attention, ATTENTION_GONE);
}

/* In live state it is the interpreter that is new or not (decision 20). */
static void on_started(struct run *run)
{
	struct call *call = container_of(run, struct call, run);

	visit_live_started(&call->visit, &run->started, &call->loss);
	if (run->started.interpreter == WIRE_INTERPRETER_REUSED)
		call->session_state = "reused";
	else if (call->loss.reason || call->visit.reset_reason)
		call->session_state = "reset";
	else
		call->session_state = "new";
	tell_started(call);
}

/* Keeps the names, or takes note of their loss. */
static void live_end(struct call *call)
{
	const struct str none = { .n = 0 };
	struct str names = call->is_live ? call->run.report.text[REPORT_NAMES] : none;
	struct live_loss loss;

	visit_live_ended(&call->visit, &call->run.ended, names, &loss);
	if (!loss.reason)
		return;
	live_loss_fini(&call->loss);
	call->loss = loss;
	call->session_state = "reset";
}

/* Looks at what was raised, and ends the run if there is a reason. */
static void heed(struct call *call)
{
	uint32_t reasons = attention_take(&call->attention);

	if (reasons & ATTENTION_GONE)
		call->result->is_client_gone = true;
	if (reasons & ATTENTION_END)
		run_cancel(&call->run);
}

/* The script, from its start to its whole end. */
static int run_script(struct call *call)
{
	const struct run_request request = { .session = call->visit.id,
		.wall_ms = call->wall_ms,
		.limit_ms = call->visit.limits->wall_ms,
		.package = &call->package,
		.stdin_bytes = call->request->stdin_bytes,
		.is_live = call->is_live,
		.is_reset = call->request->is_reset,
		.on_started = call->is_live ? on_started : NULL,
		.on_chunk = call->request->watch ? on_chunk : NULL };
	int r;

	for (int i = 0; i < RUN_STREAM_MAX; i++)
		call->streams[i] = (struct stream){ .watch = call->request->watch,
			.which = (enum run_stream)i };
	if (!call->is_live)
		tell_started(call);
	heed(call);
	call->mark = visit_listing_mark(&call->visit);
	r = run_start(&call->run, call->visit.jaild, &request);
	while (r == 0) {
		call->run.hangup_fd = call->attention.client_fd;
		r = run_wait(&call->run, call->attention.event_fd);
		if (r != RUN_WOKEN)
			break;
		heed(call);
		r = 0;
	}
	if (r < 0) {
		call->result->fault = call->run.fault;
		return r;
	}
	for (int i = 0; i < RUN_STREAM_MAX; i++)
		(void)stream_end(&call->streams[i]);
	return 0;
}

/* What is there after the run. */
static void look_after(struct call *call)
{
	if (call->run.ended.is_home_empty) { /* most homes are, and there is nothing to ask for */
		call->is_listed = true;
		return;
	}
	call->mark = visit_listing_mark(&call->visit);
	if (list(call, call->visit.is_kept ? WIRE_LIST_TARGETS : 0, &call->after) == 0)
		call->is_listed = true;
	else
		log_debug("msg=\"no listing after a run\" run=%s cause=%s", call->result->run_id,
			LOG_VALUE(call->visit.jaild->fault.text));
}

/* The media type of a changed file that is still there. */
static const char *change_mime(struct call *call, const struct change *change)
{
	AUTO_FREE char *path = NULL;

	if (change->kind == CHANGE_DELETED)
		return NULL;
	path = xasprintf("%.*s", STR_ARG(change->path));
	return visit_mime(&call->visit, path);
}

static void files_tell(struct call *call, const struct answer_file *files, size_t n)
{
	struct call_watch *watch = call->request->watch;

	for (size_t i = 0; watch && watch->on_file && i < n; i++)
		if (watch->on_file(watch, &files[i]) < 0) {
			call->result->is_client_gone = true;
			return;
		}
}

static void results_tell(struct call *call, const struct report_result *results, size_t n)
{
	struct call_watch *watch = call->request->watch;

	for (size_t i = 0; watch && watch->on_result && i < n; i++)
		if (watch->on_result(watch, &results[i]) < 0) {
			call->result->is_client_gone = true;
			return;
		}
}

static void answer(struct call *call)
{
	struct report_result results[REPORT_RESULTS_MAX];
	struct wire_status_is status = { 0 };
	struct changes changes = { .n = 0 };
	struct answer_file *files;
	struct answer answer = { .run_id = call->result->run_id,
		.session = call->request->key,
		.session_state = session_state(call),
		.reset_reason = call->loss.reason ? call->loss.reason : call->visit.reset_reason,
		.is_without_files = call->visit.reset_reason != NULL,
		.lost_names = call->loss.names,
		.restored = call->visit.restored,
		.is_partly_kept = call->dropped > 0,
		.language = call->request->language,
		.run = &call->run,
		.limits = call->visit.limits,
		.wall_ms = call->wall_ms,
		.has_stdin = call->request->stdin_bytes.p != NULL,
		.queue_us = call->visit.queue_us };

	if (call->is_listed)
		changes_find(&call->before, &call->after, &changes);
	files = xcalloc(changes.n, sizeof(*files));
	for (size_t i = 0; i < changes.n; i++)
		files[i] = (struct answer_file){ .path = changes.list[i].path,
			.size_bytes = changes.list[i].size_bytes,
			.mime = change_mime(call, &changes.list[i]),
			.change = changes.list[i].kind };
	(void)pool_status(house_pool_get(call->house), &status);
	answer.protections = status.protections;
	answer.files = files;
	answer.n_files = changes.n;
	answer.is_files_truncated =
		changes.is_truncated || call->before.is_truncated || !call->is_listed;
	answer.results = results;
	answer.n_results =
		results_pick(&call->run.report, call->is_listed ? &call->after : NULL, results);
	results_tell(call, results, answer.n_results);
	files_tell(call, files, changes.n);
	call->result->answer = answer_make(&answer);
	free(files);
	changes_fini(&changes);
}

static void count(struct call *call)
{
	static const enum counter by_end[WIRE_END_MAX] = {
		[WIRE_END_EXIT] = COUNTER_ENDED_EXIT,
		[WIRE_END_SIGNAL] = COUNTER_ENDED_SIGNAL,
		[WIRE_END_TIMEOUT] = COUNTER_ENDED_TIMEOUT,
		[WIRE_END_MEMORY] = COUNTER_ENDED_MEMORY,
		[WIRE_END_CANCELLED] = COUNTER_ENDED_CANCELLED,
	};
	struct counters *counters = house_counters_get(call->house);
	const struct wire_run_ended *ended = &call->run.ended;
	struct call_result *result = call->result;

	result->outcome = end_outcome(ended);
	result->reason = end_reason(ended);
	result->code = ended->code;
	result->wall_us = ended->wall_us;
	result->output_bytes =
		call->run.output[RUN_STDOUT].bytes + call->run.output[RUN_STDERR].bytes;
	if (ended->end < WIRE_END_MAX)
		counters_add(counters, by_end[ended->end], 1);
	counters_add(counters, COUNTER_START_US, run_start_us(&call->run));
	counters_add(counters, COUNTER_WALL_US, ended->wall_us);
	counters_add(counters, COUNTER_CPU_US, ended->cpu_us);
	counters_add(counters, COUNTER_OUTPUT_BYTES, result->output_bytes);
}

/* Whether this is a call of the live interpreter, now that the session is known. */
static int live_choose(struct call *call)
{
	struct wire_status_is status = { 0 };

	call->is_live = call->visit.is_live && call->request->language == PACKAGE_PYTHON;
	if (call->request->is_reset && !call->is_live) {
		fault_set_field(&call->result->fault, "reset",
			"the session's state is %s: every run is a new interpreter", HOUSE_STATE);
		return -EINVAL;
	}
	if (!call->is_live)
		return 0;
	if (!pool_status(house_pool_get(call->house), &status)) {
		fault_set(&call->result->fault, FAULT_SANDBOX_UNAVAILABLE, "the jail is not there");
		return -ECONNRESET;
	}
	if (status.protections & WIRE_PROTECT_CGROUP_KILL)
		return 0;
	visit_live_refuse(&call->visit);
	fault_set_field(&call->result->fault, "state",
		"this host has no v2 control groups, which \"%s\" needs to freeze", HOUSE_LIVE);
	fault_advise(&call->result->fault, "Leave the state out, or say \"%s\".", HOUSE_STATE);
	return -EINVAL;
}

/* The store has it before the answer leaves. */
static int keep(struct call *call)
{
	struct fault *fault = &call->result->fault;
	struct fault why;
	int r = visit_save(&call->visit, call->is_listed ? &call->after : NULL, call->mark,
		&call->dropped, fault);

	if (r < 0) {
		why = *fault;
		fault_set(fault, why.code,
			"the run has ended (%s), and what it changed is in the session but not "
			"stored: %s",
			call->result->outcome, why.text);
		fault_advise(fault, "%s", fault_advice(&why));
	}
	return r;
}

/* A run that failed at a stage may have begun all the same, when init died before it could say so:
 * what is seen in the home afterwards must be what the store has, or a stop would take it away
 * again. */
static void keep_failed(struct call *call)
{
	struct fault ignored;

	/* without a stage it is jaild that is gone, and the home with it */
	if (call->result->fault.stage[0])
		(void)visit_save(&call->visit, NULL, 0, &call->dropped, &ignored);
}

/* Everything between the beginning and the end of the visit. */
static int execute(struct call *call)
{
	struct call_result *result = call->result;
	int r;

	result->is_session_opened = call->visit.is_new;
	result->queue_us = call->visit.queue_us;
	(void)str_copy(result->profile, sizeof(result->profile), call->visit.profile);
	r = wall_choose(call);
	if (r == 0)
		r = live_choose(call);
	if (r == 0)
		r = package_fill(call);
	if (r == 0)
		r = prepare(call);
	if (r < 0)
		return r;
	r = run_script(call);
	if (r < 0) {
		counters_add(house_counters_get(call->house), COUNTER_ENDED_SETUP, 1);
		keep_failed(call);
		return r;
	}
	count(call);
	live_end(call);
	look_after(call);
	r = keep(call);
	if (r == 0)
		answer(call);
	return r;
}

static void fini(struct call *call)
{
	run_fini(&call->run);
	snapshot_fini(&call->before);
	snapshot_fini(&call->after);
	buf_fini(&call->code);
	live_loss_fini(&call->loss);
	for (size_t i = 0; i < call->n_words; i++)
		free(call->words[i]);
}

/* The session closed under a call that had not yet run: jaild's word for it ("no such session")
 * would sound as if a file were meant. */
static void fault_mend(struct call *call)
{
	struct fault *fault = &call->result->fault;
	uint32_t reasons = attention_take(&call->attention);

	if (reasons & ATTENTION_GONE)
		call->result->is_client_gone = true;
	if ((reasons & ATTENTION_CLOSE) &&
		(fault->code == FAULT_NOT_FOUND || fault->code == FAULT_RUN_FINISHED ||
			fault->code == FAULT_INVALID_FIELD)) {
		fault_set(fault, FAULT_NOT_FOUND, "the session was closed before the run began");
		fault_advise(fault, "Send the run again: it opens the session anew.");
	}
	if (fault->code == FAULT_SANDBOX_BUSY)
		call->result->retry_after_s = house_retry_after_s(call->house);
}

/* The run has an id and is in the registry. */
static int call_registered(struct call *call)
{
	const struct call_request *request = call->request;
	int r;

	call->asked = (struct visit_request){ .tenant = request->tenant,
		.key = request->key,
		.profile = request->profile,
		.profiles = request->profiles,
		.state = request->state,
		.policy = request->policy,
		.policy_default = request->policy_default,
		.opens = true,
		.run_id = call->result->run_id,
		.wall_ms = request->timeout_ms,
		.attention = &call->attention,
		.on_queued = on_queued };
	r = visit_begin(call->house, &call->asked, &call->visit, &call->result->fault);
	if (r < 0)
		return r;
	run_init(&call->run);
	r = execute(call);
	if (call->is_listed)
		visit_listing_keep(&call->visit, call->mark, &call->after);
	fini(call);
	visit_end(&call->visit);
	return r;
}

static int id_choose(const struct call_request *request, struct call_result *result)
{
	char made[ID_LEN + 1];
	int r = request->run_id ? 0 : id_make(made);

	if (r == 0)
		r = str_copy(result->run_id, sizeof(result->run_id),
			request->run_id ? request->run_id : made);
	return r;
}

int call_run(
	struct house *house, const struct call_request *request, struct call_result *ret_result)
{
	struct call call = { .house = house, .request = request, .result = ret_result };
	int r;

	*ret_result = (struct call_result){ .answer = NULL };
	r = check_request(request, &ret_result->fault);
	if (r < 0)
		return r;
	r = attention_init(&call.attention, request->client_fd);
	if (r == 0)
		r = id_choose(request, ret_result);
	if (r < 0) {
		attention_fini(&call.attention);
		fault_set(&ret_result->fault, FAULT_INTERNAL, "no run can be begun: %s",
			strerror(-r));
		return r;
	}
	r = runs_begin(visit_runs(house), request->tenant, ret_result->run_id, &call.attention);
	if (r < 0) {
		fault_set_field(&ret_result->fault, "run_id", "a run of this id is or was there");
		fault_advise(
			&ret_result->fault, "Leave run_id out, or give each run an id of its own.");
		ret_result->run_id[0] = '\0';
	} else {
		r = call_registered(&call);
		runs_end(visit_runs(house), request->tenant, ret_result->run_id);
	}
	if (r < 0)
		fault_mend(&call);
	attention_fini(&call.attention);
	return r;
}
