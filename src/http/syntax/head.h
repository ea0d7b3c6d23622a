#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault;

/*
 * The judge of raw request heads: what it lets through has one reading only, so that nothing behind
 * it can understand another request. Slices point into the judged bytes. RFC 9112 sections 2 to 6
 */

/* Bytes of a request target; more is 414. The longest that has a meaning is a file's: a path of
 * 4,096 bytes and a key, each byte written as %XX, and the route around them. */
#define HEAD_TARGET_MAX (13u * 1024)
#define HEAD_MAX	(16u * 1024) /* bytes of a whole head; more is 431 */
#define HEAD_FIELDS_MAX 100	     /* field lines; more is 431 */

struct head_field {
	struct str name;
	struct str value; /* without spaces around it */
};

struct head {
	struct str method;
	struct str target; /* as sent: path, and "?" query */
	struct str path;   /* still percent-encoded */
	struct str query;  /* without "?", empty if there is none */
	bool is_http_1_0;
	bool is_chunked;
	uint64_t length; /* Content-Length, 0 without */
	size_t n_fields;
	struct head_field fields[HEAD_FIELDS_MAX];
};

/* Looks for the end of a head in bytes, of which the first `from` were looked at before. Returns 1
 * with *ret_size, 0 if more is needed, or -EBADMSG for a control character, a bare CR or a bare LF.
 * Does not know HEAD_MAX. */
int head_scan(struct str bytes, size_t from, size_t *ret_size);

/* Reads a whole head, its empty line included, that head_scan has accepted. Returns 0, or -EBADMSG
 * with *ret_fault (400, 414, 431): answer and close. */
int head_judge(struct str bytes, struct head *ret_head, struct fault *ret_fault);

/* The value of the first field of this name, in any case. False if there is none. */
bool head_field_get(const struct head *head, const char *name, struct str *ret_value);
