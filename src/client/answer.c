/*
 * Theory of operation: a walk over the members that we use. What is missing or of another kind
 * makes the whole answer malformed, so that its users need no "if it is there"; members that we do
 * not know may come with a newer supervisor and are left alone.
 */
#include "client/answer.h"

#include "base/macro.h"
#include "json/json.h"

#include <errno.h>

/* Reads, and remembers the first name that was wrong. */
struct reading {
	const char *wrong;
};

static const struct json *object_get(
	struct reading *reading, const struct json *object, const char *name)
{
	const struct json *member = json_get(object, name);

	if (json_kind_get(member) != JSON_KIND_OBJECT && !reading->wrong)
		reading->wrong = name;
	return member;
}

static struct str text_get(struct reading *reading, const struct json *object, const char *name)
{
	struct str text = { "", 0 };

	if (json_as_text(json_get(object, name), &text) < 0 && !reading->wrong)
		reading->wrong = name;
	return text;
}

static uint64_t count_get(struct reading *reading, const struct json *object, const char *name)
{
	int64_t value = 0;

	if ((json_as_integer(json_get(object, name), &value) < 0 || value < 0) && !reading->wrong)
		reading->wrong = name;
	return value > 0 ? (uint64_t)value : 0;
}

static bool bool_get(struct reading *reading, const struct json *object, const char *name)
{
	bool value = false;

	if (json_as_bool(json_get(object, name), &value) < 0 && !reading->wrong)
		reading->wrong = name;
	return value;
}

static struct sandbox_stream stream_get(
	struct reading *reading, const struct json *whole, const char *name)
{
	const struct json *stream = object_get(reading, whole, name);

	return (struct sandbox_stream){ .text = text_get(reading, stream, "text"),
		.bytes = count_get(reading, stream, "bytes"),
		.dropped = count_get(reading, stream, "dropped") };
}

/* Its words must be ones that we know how to tell. */
static void end_read(struct reading *reading, struct sandbox_answer *answer)
{
	static const struct str reasons[] = { STR("exit"), STR("signal"), STR("timeout"),
		STR("memory"), STR("cancelled") };
	const struct json *end = object_get(reading, answer->whole, "end");
	bool is_known = false;

	answer->reason = text_get(reading, end, "reason");
	answer->end_text = text_get(reading, end, "text");
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		is_known = is_known || str_eq(answer->reason, reasons[i]);
	if (!is_known && !reading->wrong)
		reading->wrong = "reason";
	if (str_eq(answer->reason, STR("exit"))) {
		uint64_t code = count_get(reading, end, "code");

		answer->code = (int)MIN(code, (uint64_t)255);
	}
	if (str_eq(answer->reason, STR("signal")))
		answer->signal = text_get(reading, end, "signal");
}

static void usage_read(struct reading *reading, struct sandbox_answer *answer)
{
	const struct json *usage = object_get(reading, answer->whole, "usage");

	answer->queue_ms = count_get(reading, usage, "queue_ms");
	answer->wall_ms = count_get(reading, usage, "wall_ms");
	answer->cpu_ms = count_get(reading, usage, "cpu_ms");
	answer->memory_peak_bytes = count_get(reading, usage, "memory_peak_bytes");
}

static void lists_read(struct reading *reading, struct sandbox_answer *answer)
{
	const struct json *files = json_get(answer->whole, "files");
	const struct json *results = json_get(answer->whole, "results");
	const struct json *reset = json_get(answer->whole, "reset");

	if (json_kind_get(files) != JSON_KIND_ARRAY && !reading->wrong)
		reading->wrong = "files";
	if (json_kind_get(results) != JSON_KIND_ARRAY && !reading->wrong)
		reading->wrong = "results";
	answer->n_results = json_size(results);
	answer->n_files = json_size(files);
	answer->is_files_truncated = bool_get(reading, answer->whole, "files_truncated");
	if (json_kind_get(reset) != JSON_KIND_NULL)
		answer->reset_reason = text_get(reading, reset, "reason");
}

int sandbox_answer_read(struct json *whole, struct sandbox_answer *ret_answer, const char **ret_why)
{
	struct reading reading = { .wrong = NULL };
	struct sandbox_answer answer = { .whole = whole };

	answer.run_id = text_get(&reading, whole, "run_id");
	answer.session = text_get(&reading, whole, "session");
	answer.session_state = text_get(&reading, whole, "session_state");
	answer.language = text_get(&reading, whole, "language");
	answer.outcome = text_get(&reading, whole, "outcome");
	end_read(&reading, &answer);
	answer.out = stream_get(&reading, whole, "stdout");
	answer.err = stream_get(&reading, whole, "stderr");
	lists_read(&reading, &answer);
	usage_read(&reading, &answer);
	if (reading.wrong) {
		*ret_why = reading.wrong;
		json_free(whole);
		return -EBADMSG;
	}
	*ret_answer = answer;
	return 0;
}

void sandbox_answer_fini(struct sandbox_answer *answer)
{
	json_free(answer->whole);
	*answer = (struct sandbox_answer){ .whole = NULL };
}

int sandbox_answer_result(
	const struct sandbox_answer *answer, size_t i, struct sandbox_result *ret_result)
{
	const struct json *result = json_at(json_get(answer->whole, "results"), i);
	struct reading reading = { .wrong = NULL };

	*ret_result = (struct sandbox_result){ .mime = text_get(&reading, result, "mime"),
		.is_main = bool_get(&reading, result, "main") };
	if (json_kind_get(json_get(result, "text")) == JSON_KIND_TEXT)
		ret_result->text = text_get(&reading, result, "text");
	else if (sandbox_path_read(result, &ret_result->path) < 0)
		return -EBADMSG;
	return reading.wrong ? -EBADMSG : 0;
}

int sandbox_answer_file(
	const struct sandbox_answer *answer, size_t i, struct sandbox_changed_file *ret_file)
{
	static const struct str words[] = { [SANDBOX_CREATED] = STR("created"),
		[SANDBOX_MODIFIED] = STR("modified"),
		[SANDBOX_DELETED] = STR("deleted") };
	const struct json *file = json_at(json_get(answer->whole, "files"), i);
	struct reading reading = { .wrong = NULL };
	struct str change = text_get(&reading, file, "change");

	ret_file->size_bytes = count_get(&reading, file, "size");
	if (reading.wrong || sandbox_path_read(file, &ret_file->path) < 0)
		return -EBADMSG;
	for (size_t word = 0; word < ARRAY_SIZE(words); word++) {
		if (!str_eq(change, words[word]))
			continue;
		ret_file->change = (enum sandbox_change)word;
		return 0;
	}
	return -EBADMSG;
}
