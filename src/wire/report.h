#pragma once

#include "base/str.h"

#include <stddef.h>

/*
 * What the Python bootstrap tells of the script's end beyond its output: a memfd that the client
 * makes, the script's process maps and closes before the script starts, and the client reads once
 * the cell is dead. So nothing of it is an open descriptor in the jail. The script can forge it;
 * all it can lie about is itself.
 *
 * Form: records of a tag byte, a length in 4 bytes (little endian), and the bytes; tag 0 ends.
 */

#define REPORT_SIZE (256u * 1024)

enum report_tag {
	REPORT_END,
	REPORT_ERROR_NAME,
	REPORT_ERROR_VALUE,
	REPORT_ERROR_TRACEBACK,
	REPORT_TAG_MAX
};

struct report {
	struct str text[REPORT_TAG_MAX]; /* empty where not told; bytes, not always UTF-8 */
};

/* Reads the report of size bytes at data; slices point into data. What is malformed ends the
 * reading; what came before stays. */
void report_parse(const void *data, size_t size, struct report *ret_report);
