#include "wire/report.h"

#include <string.h>

/* Lenient on purpose: a script may have scribbled over it, and then the report is just shorter. */

/* RFC 6838's names, in lower case: letters, digits and a few signs around one slash. */
static bool mime_is_fine(struct str mime)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.+-_";
	size_t slash = 0;

	if (mime.n < 3 || mime.n > REPORT_MIME_MAX)
		return false;
	for (size_t i = 0; i < mime.n; i++) {
		if (mime.p[i] == '/' && slash == 0)
			slash = i;
		else if (!memchr(letters, mime.p[i], sizeof(letters) - 1))
			return false;
	}
	return slash > 0 && slash + 1 < mime.n;
}

static void result_parse(struct str record, struct report *report)
{
	struct report_result *result = &report->results[report->n_results];
	unsigned flags;
	size_t n;

	if (report->n_results == REPORT_RESULTS_MAX || record.n < 2)
		return;
	flags = (unsigned char)record.p[0];
	n = (unsigned char)record.p[1];
	if ((flags & ~(unsigned)(REPORT_RESULT_MAIN | REPORT_RESULT_PATH)) != 0 || n > record.n - 2)
		return;
	*result = (struct report_result){ .mime = { .p = record.p + 2, .n = n },
		.value = { .p = record.p + 2 + n, .n = record.n - 2 - n },
		.is_main = flags & REPORT_RESULT_MAIN,
		.is_path = flags & REPORT_RESULT_PATH };
	if (!mime_is_fine(result->mime))
		return;
	if (result->is_path ? result->value.n == 0 || result->value.n > REPORT_PATH_MAX
			    : result->value.n > REPORT_RESULT_TEXT_MAX)
		return;
	report->n_results++;
}

/* Nanoseconds, as Python has them. */
static void begun_parse(struct str record, struct report *report)
{
	uint64_t ns = 0;

	if (record.n != sizeof(ns))
		return;
	for (size_t i = 0; i < sizeof(ns); i++)
		ns |= (uint64_t)(unsigned char)record.p[i] << 8 * i;
	report->begun_us = ns / 1000;
}

static void record_parse(unsigned tag, struct str record, struct report *report)
{
	const uint32_t known = REPORT_ADVICE_FIGURES | REPORT_ADVICE_FIGURE | REPORT_ADVICE_RESULT;

	if (tag == REPORT_RESULT)
		result_parse(record, report);
	else if (tag == REPORT_ADVICE)
		report->advice = record.n == 1 ? (unsigned char)record.p[0] & known : 0;
	else if (tag == REPORT_BEGUN)
		begun_parse(record, report);
	else
		report->text[tag] = record;
}

void report_parse(const void *data, size_t size, struct report *ret_report)
{
	const unsigned char *p = data;
	size_t at = 0;

	*ret_report = (struct report){ 0 };
	while (size - at >= 5) {
		unsigned tag = p[at];
		size_t n = (size_t)p[at + 1] | (size_t)p[at + 2] << 8 | (size_t)p[at + 3] << 16 |
			   (size_t)p[at + 4] << 24;

		at += 5;
		if (tag == REPORT_END || tag >= REPORT_TAG_MAX || n > size - at)
			return;
		record_parse(tag, (struct str){ .p = (const char *)p + at, .n = n }, ret_report);
		at += n;
	}
}
