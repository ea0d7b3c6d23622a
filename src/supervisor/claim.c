#include "supervisor/claim.h"

#include "call/files.h"
#include "http/request.h"
#include "supervisor/caller.h"

static struct claim *claim_get(struct http_request *request)
{
	struct note *note = http_note_get(request);

	return &note->claim;
}

void claim_download(struct http_request *request, struct files_download *download)
{
	claim_get(request)->download = download;
}

void claim_release(struct http_request *request)
{
	files_download_end(claim_get(request)->download);
}
