#include "call/stream.h"

#include "base/macro.h"
#include "base/utf8.h"
#include "call/call.h"

#include <string.h>

/* A character that two chunks share is told alone, from the bytes held and those that complete it:
 * so no chunk has to be copied. */

static int tell(struct stream *stream, const char *p, size_t n)
{
	if (n == 0 || stream->told >= CALL_STREAM_MAX)
		return 0;
	stream->told += n;
	return stream->watch->on_output(
		stream->watch, stream->which, (struct str){ .p = p, .n = n });
}

/* Completes the held character with the first bytes of the chunk, which it takes off. */
static int held_complete(struct stream *stream, struct str *chunk)
{
	while (stream->n_held > 0 && chunk->n > 0) {
		size_t n;

		stream->held[stream->n_held++] = *chunk->p++;
		chunk->n--;
		if (stream->n_held < sizeof(stream->held) &&
			utf8_unfinished(stream->held, stream->n_held) == stream->n_held)
			continue;
		n = stream->n_held;
		stream->n_held = 0;
		return tell(stream, stream->held, n);
	}
	return 0;
}

int stream_feed(struct stream *stream, struct str chunk)
{
	size_t unfinished;
	int r;

	if (!stream->watch || !stream->watch->on_output)
		return 0;
	r = held_complete(stream, &chunk);
	if (r < 0 || chunk.n == 0)
		return r;
	unfinished = utf8_unfinished(chunk.p, chunk.n);
	r = tell(stream, chunk.p, chunk.n - unfinished);
	memcpy(stream->held, chunk.p + chunk.n - unfinished, unfinished);
	stream->n_held = unfinished;
	return r;
}

int stream_end(struct stream *stream)
{
	size_t n = stream->n_held;

	stream->n_held = 0;
	return stream->watch && stream->watch->on_output ? tell(stream, stream->held, n) : 0;
}
