#pragma once

#include "base/str.h"

struct fault;
struct json;

/* Reads a problem as the API gives it. RFC 9457 */

/* From the text of an answer, or from the value of an event. A code that we do not know becomes one
 * of ours by its status. Its texts are clean (utf8_clean). Returns 0, or -EBADMSG when it
 * is no problem: without a code or a status of 400 to 599. */
int problem_read(struct str text, struct fault *ret_fault);
int problem_from_json(const struct json *problem, struct fault *ret_fault);
