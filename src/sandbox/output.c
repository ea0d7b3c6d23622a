/*
 * Theory of operation: the first `half` bytes go to the head, all later ones through a ring that
 * forgets the oldest. What is between them is counted and gone. Bytes stay bytes until output_text,
 * which repairs once: if nothing was dropped, head and tail are one text and a character that lies
 * across the border is whole. Otherwise the border is moved to whole characters on both sides, and
 * the few bytes cut there count as dropped too.
 */
#include "sandbox/output.h"

#include "base/alloc.h"
#include "base/macro.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void output_init(struct output *output, size_t half)
{
	*output = (struct output){ .half = half };
	buf_init(&output->head, half);
}

void output_fini(struct output *output)
{
	buf_fini(&output->head);
	free(output->tail);
	output->tail = NULL;
	output->tail_len = 0;
}

/* Puts n bytes, at most half, into the ring. */
static void ring_add(struct output *output, const char *p, size_t n)
{
	size_t first = MIN(n, output->half - output->tail_at);

	memcpy(output->tail + output->tail_at, p, first);
	memcpy(output->tail, p + first, n - first);
	output->tail_at = (output->tail_at + n) % output->half;
	output->tail_len = MIN(output->half, output->tail_len + n);
}

void output_feed(struct output *output, const char *p, size_t n)
{
	size_t room = output->half - output->head.len;
	size_t first = MIN(room, n);

	output->bytes += n;
	(void)buf_add(&output->head, p, first);
	p += first;
	n -= first;
	if (n == 0 || output->half == 0)
		return;
	if (!output->tail)
		output->tail = xmalloc(output->half);
	if (n > output->half) {
		p += n - output->half;
		n = output->half;
	}
	ring_add(output, p, n);
}

/* The ring's bytes in their order, as two slices. */
static void ring_get(const struct output *output, struct str ret_parts[2])
{
	size_t start = (output->tail_at + output->half - output->tail_len) %
		       (output->half > 0 ? output->half : 1);
	size_t first = MIN(output->tail_len, output->half - start);

	ret_parts[0] = (struct str){ .p = output->tail + start, .n = first };
	ret_parts[1] = (struct str){ .p = output->tail, .n = output->tail_len - first };
}

/* Bytes at the start that continue a character whose first byte was dropped: at most 3, as no
 * character has more. */
static size_t continued(struct str s)
{
	size_t n = 0;

	while (n < 3 && n < s.n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n++;
	return n;
}

int output_text(const struct output *output, struct buf *out, uint64_t *ret_dropped)
{
	AUTO_BUF struct buf tail = BUF_INIT(output->half * 2);
	uint64_t dropped = output->bytes - output->head.len - output->tail_len;
	size_t head_len = output->head.len, skip = 0;
	struct str parts[2] = { { 0 } };
	int r = 0;

	if (output->tail_len > 0)
		ring_get(output, parts);
	if (dropped == 0) {
		(void)buf_add_slice(&tail, buf_get_slice(&output->head));
		head_len = 0;
	} else {
		head_len -= utf8_unfinished(buf_get_cstr(&output->head), head_len);
	}
	(void)buf_add_slice(&tail, parts[0]);
	(void)buf_add_slice(&tail, parts[1]);
	if (dropped > 0) {
		skip = continued(buf_get_slice(&tail));
		dropped += output->head.len - head_len + skip;
		r = utf8_repair(out, buf_get_cstr(&output->head), head_len);
		if (r == 0)
			r = buf_addf(out, "\n... %" PRIu64 " bytes left out ...\n", dropped);
	}
	if (r == 0)
		r = utf8_repair(out, buf_get_cstr(&tail) + skip, tail.len - skip);
	if (r == 0)
		*ret_dropped = dropped;
	return r;
}
