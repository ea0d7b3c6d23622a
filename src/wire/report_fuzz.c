/*
 * Any bytes as a report: every text that is told lies inside of them.
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
	assert(report.text[REPORT_END].n == 0);
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
