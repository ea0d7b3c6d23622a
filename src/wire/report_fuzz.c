/*
 * Any bytes as a report: every text and result that is told lies inside of them and is in bounds.
 */
#include "wire/report.h"

#include "base/assert.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report report;
	unsigned sum = 0;

	report_parse(data, size, &report);
	assert(report.n_results <= REPORT_RESULTS_MAX && report.advice < 8);
	for (size_t i = 0; i < report.n_results; i++) {
		const struct report_result *result = &report.results[i];

		assert(result->mime.p >= (const char *)data + 7);
		assert(result->mime.n >= 3 && result->mime.n <= REPORT_MIME_MAX);
		assert(result->value.p == result->mime.p + result->mime.n);
		assert(result->value.p + result->value.n <= (const char *)data + size);
		assert(result->value.n <=
			(result->is_path ? REPORT_PATH_MAX : REPORT_RESULT_TEXT_MAX));
	}
	assert(report.text[REPORT_END].n == 0 && report.text[REPORT_RESULT].n == 0);
	for (unsigned tag = 0; tag < REPORT_TAG_MAX; tag++) {
		struct str text = report.text[tag];

		if (text.n == 0)
			continue;
		assert(text.p >= (const char *)data + 5);
		assert(text.p + text.n <= (const char *)data + size);
		for (size_t i = 0; i < text.n; i++)
			sum += (unsigned char)text.p[i];
	}
	(void)sum;
	return 0;
}
