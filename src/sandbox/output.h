#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What is kept of one stream of a run: the head, the tail, and the count of all. Memory is bounded
 * whatever a script prints; nothing ever makes the script wait or end (decision 18).
 */

/* Bytes kept at each end: together more than a person reads or a model is given. */
#define OUTPUT_HALF_BYTES (64u * 1024)

/* Most that output_text can append for a half of this size: three bytes for each that is not UTF-8,
 * and the line between. */
#define OUTPUT_TEXT_MAX(half) ((size_t)(half)*6 + 64)

struct output {
	struct buf head;
	char *tail; /* a ring of half bytes; NULL until the head is full */
	size_t half;
	size_t tail_at; /* where the next byte goes */
	size_t tail_len;
	uint64_t bytes; /* all that came */
};

/* Keeps half bytes at each end. Allocates nothing yet; end it with output_fini. */
void output_init(struct output *output, size_t half);
void output_fini(struct output *output);

/* Takes the next bytes of the stream. */
void output_feed(struct output *output, const char *p, size_t n);

/* Appends the kept text, repaired to UTF-8, with the line "... N bytes left out ..." where
 * something is missing; no character is cut at that place. *ret_dropped is N. Returns 0, or
 * -ENOBUFS if out may hold less than OUTPUT_TEXT_MAX. */
int output_text(const struct output *output, struct buf *out, uint64_t *ret_dropped);
