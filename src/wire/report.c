#include "wire/report.h"

#include <stdint.h>

/* Lenient on purpose: a script may have scribbled over it, and then the report is just shorter. */

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
		ret_report->text[tag] = (struct str){ .p = (const char *)p + at, .n = n };
		at += n;
	}
}
