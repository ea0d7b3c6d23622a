#pragma once

#include "wire/report.h"

#include <stddef.h>

struct convert;
struct outputs_source;

/* Where the files are, and who converts pictures of them. */
struct show {
	struct outputs_source *source;
	struct convert *convert;
};

/* Shows results on stdout if that is a terminal: pictures where it draws some, and the last value
 * as text. Files are named by outputs_collect already. */
void show_results(const struct show *show, const struct report_result *results, size_t n);
