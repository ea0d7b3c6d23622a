#pragma once

#include "base/str.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/package.h"
#include "wire/report.h"

#include <stdbool.h>

struct buf;

/* How a run ended, in the words of the API and in a sentence for people (decision 17). */

/* What is known when a run has ended. */
struct end_facts {
	const struct wire_run_ended *ended;
	const struct wire_limits *limits;
	uint64_t wall_ms; /* the limit that held for this run */
	enum package_language language;
	bool has_stdin;
	const struct report *report;
	struct str stderr_text;
};

/* "ok", "error", "timeout" or "killed". */
const char *end_outcome(const struct wire_run_ended *ended);

/* "exit", "signal", "timeout", "memory" or "cancelled". */
const char *end_reason(const struct wire_run_ended *ended);

/* "SIGKILL", or "signal 40" for one without a name, into name. */
void end_signal(int number, char name[16]);

/* Appends one sentence without a full stop: "ran 0.83 s and exited with status 1". Cut when out is
 * full, as the next. */
void end_sentence(const struct end_facts *facts, struct buf *out);

/* Appends sentences, each with its full stop and a blank before it, where the cause is one that
 * people stumble on; mostly nothing. */
void end_hints(const struct end_facts *facts, struct buf *out);
