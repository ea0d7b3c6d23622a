/*
 * Theory of operation: a plain walk over what is known, in the order of cloche-run(1).
 * All members are always there (null or empty where there is nothing), so that a client needs no
 * "if it exists". Bytes of a script become text here and nowhere else: json_set_text repairs them,
 * and a path that had to be repaired is given once more, exactly, as path_b64.
 */
#include "sandbox/answer.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/macro.h"
#include "base/utf8.h"
#include "sandbox/end.h"
#include "sandbox/language.h"
#include "sandbox/results.h"
#include "json/json.h"

#include <limits.h>
#include <string.h>

#define END_TEXT_MAX 512 /* bytes: a sentence and all hints */

static const struct {
	uint32_t bit;
	const char *name;
} protections[] = {
	{ WIRE_PROTECT_MEMORY, "memory" },
	{ WIRE_PROTECT_PIDS, "pids" },
	{ WIRE_PROTECT_CPU, "cpu" },
	{ WIRE_PROTECT_CGROUP_KILL, "cgroup_kill" },
	{ WIRE_PROTECT_LANDLOCK, "landlock" },
	{ WIRE_PROTECT_SECCOMP, "seccomp" },
	{ WIRE_PROTECT_NAMESPACES, "namespaces" },
};

/* The kept text of a stream into out, which has room for it. */
static uint64_t stream_text(const struct run *run, enum run_stream stream, struct buf *out)
{
	uint64_t dropped = 0;

	buf_init(out, OUTPUT_TEXT_MAX(run->output[stream].half));
	(void)output_text(&run->output[stream], out, &dropped);
	return dropped;
}

static void stream_set(
	struct json *answer, const char *name, const struct run *run, enum run_stream stream)
{
	AUTO_BUF struct buf text = BUF_INIT(0);
	uint64_t dropped = stream_text(run, stream, &text);
	struct json *object = json_set_object(answer, name);

	json_set_text(object, "text", buf_get_slice(&text));
	json_set_count(object, "bytes", run->output[stream].bytes);
	json_set_count(object, "dropped", dropped);
}

/* What sandbox/end.h asks for, but for the text of stderr. */
static struct end_facts facts_get(const struct answer *answer)
{
	return (struct end_facts){ .ended = &answer->run->ended,
		.limits = answer->limits,
		.wall_ms = answer->wall_ms,
		.language = answer->language,
		.has_stdin = answer->has_stdin,
		.report = &answer->run->report };
}

void answer_end_sentence(const struct answer *answer, struct buf *out)
{
	struct end_facts facts = facts_get(answer);

	end_sentence(&facts, out);
}

void answer_end_hints(const struct answer *answer, struct buf *out)
{
	AUTO_BUF struct buf said = BUF_INIT(0);
	struct end_facts facts = facts_get(answer);

	(void)stream_text(answer->run, RUN_STDERR, &said);
	facts.stderr_text = buf_get_slice(&said);
	end_hints(&facts, out);
}

static void end_set(struct json *object, const struct answer *answer)
{
	const struct wire_run_ended *ended = &answer->run->ended;
	struct json *end = json_set_object(object, "end");
	AUTO_BUF struct buf text = BUF_INIT(END_TEXT_MAX), hints = BUF_INIT(END_TEXT_MAX);
	char name[16];

	json_set_cstr(end, "reason", end_reason(ended));
	if (ended->end == WIRE_END_EXIT)
		json_set_integer(end, "code", ended->code);
	else
		json_set_null(end, "code");
	end_signal(ended->code, name);
	if (ended->end == WIRE_END_SIGNAL)
		json_set_cstr(end, "signal", name);
	else
		json_set_null(end, "signal");
	answer_end_sentence(answer, &text);
	answer_end_hints(answer, &hints);
	if (hints.len > 0)
		(void)buf_addf(&text, ".%s", buf_get_cstr(&hints));
	json_set_text(end, "text", buf_get_slice(&text));
}

static void error_set(struct json *object, const struct report *report)
{
	struct json *error;

	if (report->text[REPORT_ERROR_NAME].n == 0) {
		json_set_null(object, "error");
		return;
	}
	error = json_set_object(object, "error");
	json_set_text(error, "name", report->text[REPORT_ERROR_NAME]);
	json_set_text(error, "value", report->text[REPORT_ERROR_VALUE]);
	json_set_text(error, "traceback", report->text[REPORT_ERROR_TRACEBACK]);
}

/* A path as text and, where that is not all of it, its bytes under the second name. */
static void path_set(struct json *object, const char *name, const char *name_b64, struct str path)
{
	/* a path of the host's that ends in one of a session's */
	AUTO_BUF struct buf encoded = BUF_INIT(BASE64_SIZE(PATH_MAX + WIRE_PATH_SIZE));

	json_set_text(object, name, path);
	if (!utf8_is_valid(path.p, path.n) && base64_encode(path, &encoded) == 0)
		json_set_text(object, name_b64, buf_get_slice(&encoded));
}

void answer_saved_set(struct json *entry, const char *saved)
{
	path_set(entry, "saved", "saved_b64", str_from(saved));
}

static void file_fill(struct json *entry, const struct answer_file *file)
{
	path_set(entry, "path", "path_b64", file->path);
	json_set_count(entry, "size", file->size_bytes);
	if (file->mime)
		json_set_cstr(entry, "mime", file->mime);
	else
		json_set_null(entry, "mime");
	json_set_cstr(entry, "change", change_name(file->change));
	if (file->saved)
		answer_saved_set(entry, file->saved);
}

struct json *answer_file_make(const struct answer_file *file)
{
	struct json *object = json_object_new();

	file_fill(object, file);
	return object;
}

/* In fresh state there is nothing but the files that could be lost. */
static void reset_set(struct json *object, const struct answer *answer)
{
	struct str name, rest = str_from(answer->lost_names ? answer->lost_names : "");
	const char *reason = answer->reset_reason;
	struct json *reset, *lost;

	if (!reason) {
		json_set_null(object, "reset");
		return;
	}
	reset = json_set_object(object, "reset");
	json_set_cstr(reset, "reason", reason);
	lost = json_set_array(reset, "lost");
	if (answer->is_without_files)
		json_add_text(lost, STR("files"));
	while (rest.n > 0) {
		(void)str_split_once(rest, '\n', &name, &rest);
		if (name.n > 0)
			json_add_text(lost, name);
	}
}

/* A kept session that had stopped and is back: nothing was lost. */
static void restored_set(struct json *object, const char *reason)
{
	if (!reason)
		json_set_null(object, "restored");
	else
		json_set_cstr(json_set_object(object, "restored"), "reason", reason);
}

static void files_set(struct json *object, const struct answer *answer)
{
	struct json *files = json_set_array(object, "files");

	for (size_t i = 0; i < answer->n_files; i++)
		file_fill(json_add_object(files), &answer->files[i]);
	json_set_bool(object, "files_truncated", answer->is_files_truncated);
}

static void usage_set(struct json *object, const struct answer *answer)
{
	const struct wire_run_ended *ended = &answer->run->ended;
	struct json *usage = json_set_object(object, "usage");

	json_set_count(usage, "queue_ms", answer->queue_us / 1000);
	json_set_count(usage, "start_ms", run_start_us(answer->run) / 1000);
	json_set_count(usage, "wall_ms", ended->wall_us / 1000);
	json_set_count(usage, "cpu_ms", ended->cpu_us / 1000);
	json_set_count(usage, "memory_peak_bytes", ended->memory_peak_bytes);
	json_set_cstr(usage, "memory_peak_kind", ended->memory_peak_is_rss ? "rss" : "cgroup");
}

void answer_protections_set(struct json *object, uint32_t set)
{
	struct json *off;

	if ((set & WIRE_PROTECT_ALL) == WIRE_PROTECT_ALL) {
		json_set_cstr(object, "protections", "full");
		return;
	}
	off = json_set_array(object, "protections");
	for (size_t i = 0; i < ARRAY_SIZE(protections); i++)
		if (!(set & protections[i].bit))
			json_add_text(off, str_from(protections[i].name));
}

static void advice_set(struct json *object, const struct answer *answer)
{
	const struct run *run = answer->run;
	struct json *advice = json_set_array(object, "advice");

	if (run->ended.advice & WIRE_ADVICE_PIDS)
		json_add_text(advice, STR("pids"));
	if (run->report.advice & REPORT_ADVICE_FIGURES)
		json_add_text(advice, STR("figures"));
	if (run->report.advice & REPORT_ADVICE_FIGURE)
		json_add_text(advice, STR("figure"));
	if (run->report.advice & REPORT_ADVICE_RESULT)
		json_add_text(advice, STR("result"));
	if (answer->is_partly_kept)
		json_add_text(advice, STR("not_kept"));
}

struct json *answer_make(const struct answer *answer)
{
	struct json *object = json_object_new();

	json_set_cstr(object, "run_id", answer->run_id);
	json_set_cstr(object, "session", answer->session);
	json_set_cstr(object, "session_state", answer->session_state);
	json_set_cstr(object, "language", language_name(answer->language));
	json_set_cstr(object, "outcome", end_outcome(&answer->run->ended));
	end_set(object, answer);
	stream_set(object, "stdout", answer->run, RUN_STDOUT);
	stream_set(object, "stderr", answer->run, RUN_STDERR);
	error_set(object, &answer->run->report);
	reset_set(object, answer);
	restored_set(object, answer->restored);
	advice_set(object, answer);
	results_set(object, answer->results, answer->n_results);
	files_set(object, answer);
	usage_set(object, answer);
	(void)json_set_array(json_set_object(object, "egress"), "denied");
	answer_protections_set(object, answer->protections);
	return object;
}

struct json *answer_problem(const struct fault *fault)
{
	struct json *object = json_object_new();

	json_set_cstr(object, "code", fault_name(fault->code));
	json_set_integer(object, "status", fault_status(fault->code));
	json_set_cstr(object, "detail", fault->text);
	json_set_cstr(object, "advice", fault_advice(fault));
	if (fault->stage[0])
		json_set_cstr(object, "stage", fault->stage);
	if (fault->field[0])
		json_set_cstr(object, "field", fault->field);
	return object;
}
