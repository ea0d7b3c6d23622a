#pragma once

#include "wire/report.h"

#include <stddef.h>

struct json;
struct snapshot;

/* What a run shows, out of a report that its script may have forged. */

/* Picks into out, which has room for REPORT_RESULTS_MAX, those that can be told: texts, and files
 * that home holds as regular ones (NULL: it could not be listed, and then none). Returns how many;
 * slices of the report. */
size_t results_pick(
	const struct report *report, const struct snapshot *home, struct report_result *out);

/* One element of an answer's `results`, alone: {mime, text | path, path_b64?, main}. The caller
 * frees it with json_free. */
struct json *results_make_one(const struct report_result *result);

/* Sets the member `results`. */
void results_set(struct json *object, const struct report_result *results, size_t n);
