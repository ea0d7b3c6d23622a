#pragma once

#include "base/str.h"
#include "client/files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

/* The answer to a run, read and checked. architecture.md section 6 */

struct sandbox_stream {
	struct str text;
	uint64_t bytes, dropped;
};

struct sandbox_answer {
	struct json *whole; /* as the supervisor wrote it; owned, and all slices point into it */
	struct str run_id, session, session_state, language;
	struct str outcome; /* "ok", "error", "timeout" or "killed" */
	struct str reason;  /* "exit", "signal", "timeout", "memory" or "cancelled" */
	struct str end_text;
	struct str signal; /* "SIGSEGV"; .n 0 without */
	int code;	   /* with reason "exit": 0 to 255 */
	struct sandbox_stream out, err;
	struct str reset_reason; /* .n 0: nothing was lost */
	bool is_files_truncated;
	size_t n_files;
	size_t n_results;
	uint64_t queue_ms, wall_ms, cpu_ms, memory_peak_bytes;
};

enum sandbox_change {
	SANDBOX_CREATED,
	SANDBOX_MODIFIED,
	SANDBOX_DELETED
};

struct sandbox_changed_file {
	struct sandbox_path path;
	uint64_t size_bytes;
	enum sandbox_change change;
};

/* What the run shows: a text, or a file of the session. */
struct sandbox_result {
	struct str mime;
	struct str text;	  /* .p NULL where there is a path */
	struct sandbox_path path; /* with text.p NULL */
	bool is_main;		  /* of the last value; else of a figure */
};

/* Takes the value over, also on an error. Returns 0, or -EBADMSG with *ret_why naming what is
 * missing or wrong, a literal. End it with sandbox_answer_fini. */
int sandbox_answer_read(
	struct json *whole, struct sandbox_answer *ret_answer, const char **ret_why);
void sandbox_answer_fini(struct sandbox_answer *answer);

/* Result i of n_results. Returns 0, or -EBADMSG when it is malformed. */
int sandbox_answer_result(
	const struct sandbox_answer *answer, size_t i, struct sandbox_result *ret_result);

/* Changed file i of n_files. Returns 0, or -EBADMSG when it is malformed. */
int sandbox_answer_file(
	const struct sandbox_answer *answer, size_t i, struct sandbox_changed_file *ret_file);
