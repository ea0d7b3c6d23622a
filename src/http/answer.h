#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "http/respond.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The answer of a request while it is made and sent. Owned by its request; filled by
 * http/respond.h, sent by the library's thread (http/handling.h) or, in the middle of a body, by
 * the handler's.
 */

#define ANSWER_HEADERS_MAX (HTTP_ANSWER_HEADERS_MAX + 10) /* and our own */
/* Bytes of a body in memory: the largest is a page of files, whose names are bounded (call/files.h)
 * and may become seven times as long in JSON. */
#define ANSWER_BODY_MAX ((size_t)16 * 1024 * 1024)
#define ANSWER_HEAD_MAX ((size_t)32 * 1024)

enum answer_kind {
	ANSWER_NONE,
	ANSWER_BYTES,
	ANSWER_FILE,
	ANSWER_STREAM,
};

struct http_limits;

struct answer_header {
	const char *name; /* a literal */
	char *value;	  /* owned */
};

struct answer {
	enum answer_kind kind;
	int status;
	struct answer_header headers[ANSWER_HEADERS_MAX];
	size_t n_headers;
	struct buf body; /* ANSWER_BYTES */
	int fd;		 /* ANSWER_FILE: owned, -1 without; length bytes from first */
	uint64_t first, length;
};

void answer_init(struct answer *answer);
void answer_fini(struct answer *answer);

/* Adds a header; asserts that there is room. Returns 0, or -EINVAL for a control character in the
 * value. */
int answer_header_add(struct answer *answer, const char *name, const char *value);

bool answer_header_has(const struct answer *answer, const char *name);

/* How many bytes the body has, 0 for a stream. */
uint64_t answer_size(const struct answer *answer);

/* How long a client may take over it. */
usec_t answer_time_us(const struct answer *answer, const struct http_limits *limits);

/* Writes an ANSWER_BYTES whole to the socket fd, waiting at most wait_ms for each step (-1:
 * without end); a client that does not take it loses it. */
void answer_send(const struct answer *answer, int fd, int wait_ms);
