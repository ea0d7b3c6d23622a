#pragma once

#include <stdbool.h>

/* The descriptors that a script starts with. */

/* Python's bootstrap finds its report here and closes it before the script starts. */
#define SCRIPT_REPORT_FD 3

/* Makes the streams of a run (fds of enum wire_run_fd) 0, 1 and 2 and, if wanted, the report 3. The
 * sources must all lie above 3; they stay open. Returns 0 or -errno. */
int streams_connect(const int *fds, bool has_report);
