#pragma once

#include "tenant/shares.h"

#include <stdbool.h>
#include <stddef.h>

struct files_download;
struct http_request;
struct http_route;

/* What a request holds until it is over, whatever becomes of it: its part of what all tenants share
 * (tenant/shares.h), and a file on its way out. Kept in its note (supervisor/caller.h). */

struct claim {
	enum shares_kind kind;
	struct share *share; /* NULL: SHARES_FREE, or refused */
	size_t body_bytes, answer_bytes;
	struct files_download *download; /* NULL: none */
};

/* Counts a request whose caller is known. False after it was answered: 429 when its tenant has as
 * many as it may, 503 when all have. */
bool claim_begin(struct http_request *request, const struct http_route *route);

/* For http_config.release: gives everything back. */
void claim_release(struct http_request *request);

/* For http_config.take_body. */
bool claim_body(struct http_request *request, size_t n);

/* Takes the memory of an answer of n bytes; few bytes are free. False after it was answered with
 * 429 or 503, when too many answers are not taken by their readers. */
bool claim_answer(struct http_request *request, size_t n);

/* The answer that was claimed came to n bytes only: gives the rest back. */
void claim_settle(struct http_request *request, size_t n);

/* The same for an answer that must not be lost: waits until those before it are taken, for which
 * they have a deadline. */
void claim_certain_answer(struct http_request *request, size_t n);

/* The turn to parse a large body. */
void claim_parse_begin(struct http_request *request);
void claim_parse_end(struct http_request *request);

/* Takes over a download, ended when the request is. */
void claim_download(struct http_request *request, struct files_download *download);
