#pragma once

#include "base/str.h"
#include "sandbox/run.h"

#include <stdint.h>

struct call_watch;

/* What a run prints on its way to who looks on: whole characters, up to CALL_STREAM_MAX bytes. */

struct stream {
	struct call_watch *watch;
	enum run_stream which;
	char held[4]; /* the beginning of a character */
	size_t n_held;
	uint64_t told; /* bytes */
};

/* The next chunk. Returns 0, or below 0 when the client is gone. */
int stream_feed(struct stream *stream, struct str chunk);

/* The stream has ended: what was held back is told as it is. */
int stream_end(struct stream *stream);
