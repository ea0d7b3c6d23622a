#pragma once

#include "wire/report.h"

#include <stddef.h>

struct outputs_source;

/* Shows results on stdout if that is a terminal: pictures where it draws some, and the last value
 * as text. Files are named by outputs_collect already. */
void show_results(struct outputs_source *source, const struct report_result *results, size_t n);
