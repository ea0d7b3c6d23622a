#include "supervisor/claim.h"

#include "base/fault.h"
#include "call/files.h"
#include "http/request.h"
#include "http/respond.h"
#include "http/server.h"
#include "supervisor/caller.h"
#include "supervisor/supervisor.h"

#include <errno.h>

/* Bytes of an answer that are not counted: 128 of them are 2 MiB, and most fit into the socket. */
#define ANSWER_SMALL ((size_t)16 * 1024)

/* How long a page waits for memory, and how long the answer of a run: longer than the reader of a
 * tenant's share may take for it (http_limits.answer_ms, 30 s, and 64 s at the least rate). */
#define ANSWER_WAIT_US	(2 * USEC_PER_S)
#define CERTAIN_WAIT_US (100 * USEC_PER_S)

static struct claim *claim_get(struct http_request *request)
{
	struct note *note = http_note_get(request);

	return &note->claim;
}

static void refuse(struct http_request *request, int error, const char *what)
{
	struct fault fault;

	if (error == -EDQUOT) {
		fault_set(&fault, FAULT_SANDBOX_BUSY,
			"this tenant has as many %s under way as it may", what);
		fault_advise(&fault, "Try again when one of them has been answered.");
	} else {
		fault_set(&fault, FAULT_SERVER_BUSY, "the server has as many %s as it may", what);
	}
	http_respond_fault(request, &fault);
}

bool claim_begin(struct http_request *request, const struct http_route *route)
{
	const struct caller *caller = caller_get(request);
	struct claim *claim = claim_get(request);
	int r = 0;

	claim->kind = caller_kind(route);
	if (claim->kind != SHARES_FREE)
		r = shares_enter(&supervisor_of(request)->shares, caller->tenant, claim->kind,
			caller_is_admin(caller), &claim->share);
	if (r < 0)
		refuse(request, r, "requests");
	return r == 0;
}

void claim_release(struct http_request *request)
{
	struct shares *shares = &supervisor_of(request)->shares;
	struct claim *claim = claim_get(request);

	files_download_end(claim->download);
	if (!claim->share)
		return;
	shares_give_body(shares, claim->share, claim->body_bytes);
	shares_give_answer(shares, claim->share, claim->answer_bytes);
	shares_leave(shares, claim->share, claim->kind);
}

bool claim_body(struct http_request *request, size_t n)
{
	struct claim *claim = claim_get(request);

	if (!claim->share)
		return true;
	if (!shares_take_body(&supervisor_of(request)->shares, claim->share, n))
		return false;
	claim->body_bytes += n;
	return true;
}

static int answer_take(struct http_request *request, size_t n, usec_t wait_us, bool is_certain)
{
	struct claim *claim = claim_get(request);
	int r;

	if (n <= ANSWER_SMALL || !claim->share)
		return 0;
	r = shares_take_answer(&supervisor_of(request)->shares, claim->share, n,
		clock_now_us() + wait_us, is_certain);
	if (r == 0)
		claim->answer_bytes += n;
	return r;
}

bool claim_answer(struct http_request *request, size_t n)
{
	int r = answer_take(request, n, ANSWER_WAIT_US, false);

	if (r < 0)
		refuse(request, r, "bytes of answers");
	return r == 0;
}

void claim_settle(struct http_request *request, size_t n)
{
	struct claim *claim = claim_get(request);

	if (n >= claim->answer_bytes)
		return;
	shares_give_answer(&supervisor_of(request)->shares, claim->share, claim->answer_bytes - n);
	claim->answer_bytes = n;
}

void claim_certain_answer(struct http_request *request, size_t n)
{
	(void)answer_take(request, n, CERTAIN_WAIT_US, true);
}

void claim_parse_begin(struct http_request *request)
{
	shares_parse_begin(&supervisor_of(request)->shares, claim_get(request)->share);
}

void claim_parse_end(struct http_request *request)
{
	shares_parse_end(&supervisor_of(request)->shares, claim_get(request)->share);
}

void claim_download(struct http_request *request, struct files_download *download)
{
	claim_get(request)->download = download;
}
