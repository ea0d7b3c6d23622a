#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the Python bootstrap tells of the script's end beyond its output: a memfd that the client
 * makes, the script's process maps and closes before the script starts, and the client reads once
 * the cell is dead. So nothing of it is an open descriptor in the jail. The script can forge it;
 * all it can lie about is itself.
 *
 * Form: records of a tag byte, a length in 4 bytes (little endian), and the bytes; tag 0 ends. A
 * result's bytes are its flags, the length of its media type, that type, and a text or a path. The
 * last record of advice counts, one byte; so does the last time.
 */

#define REPORT_SIZE	       (1024u * 1024)
#define REPORT_RESULTS_MAX     48	     /* 20 figures, and each representation of one value */
#define REPORT_RESULT_TEXT_MAX (256u * 1024) /* bytes; longer ones become files */
#define REPORT_MIME_MAX	       100	     /* bytes */
#define REPORT_PATH_MAX	       4096	     /* bytes */

enum report_tag {
	REPORT_END,
	REPORT_ERROR_NAME,
	REPORT_ERROR_VALUE,
	REPORT_ERROR_TRACEBACK,
	REPORT_RESULT,
	REPORT_ADVICE,
	REPORT_NAMES, /* of a live interpreter's globals, a newline between; absent: as before */
	REPORT_BEGUN, /* when the script's first instruction was next: 8 bytes, little endian */
	REPORT_TAG_MAX
};

enum report_result_flag {
	REPORT_RESULT_MAIN = 1, /* of the last value; else of a figure that was shown */
	REPORT_RESULT_PATH = 2	/* a file of the home; else text */
};

enum report_advice {
	REPORT_ADVICE_FIGURES = 1, /* there were more than are saved */
	REPORT_ADVICE_FIGURE = 2,  /* one could not be drawn, or not be saved */
	REPORT_ADVICE_RESULT = 4   /* the last value could not be shown, or not all of it */
};

struct report_result {
	struct str mime;  /* of the form TYPE/SUBTYPE, ASCII */
	struct str value; /* the text, or the path; bytes */
	bool is_main;
	bool is_path;
};

struct report {
	struct str text[REPORT_TAG_MAX]; /* empty where not told; bytes, not always UTF-8 */
	struct report_result results[REPORT_RESULTS_MAX];
	size_t n_results;
	uint32_t advice;   /* enum report_advice, as a set */
	uint64_t begun_us; /* by CLOCK_MONOTONIC, or any number that a script likes; 0: not told */
};

/* Reads the report of size bytes at data; slices point into data. What is malformed ends the
 * reading; what came before stays. A result that is not in order, or one too many, is left out. */
void report_parse(const void *data, size_t size, struct report *ret_report);
