#pragma once

struct files_download;
struct http_request;

/* What a request holds until it is over, whatever becomes of it. Kept in its note
 * (supervisor/caller.h). */

struct claim {
	struct files_download *download; /* NULL: none */
};

/* For http_config.release: gives everything back. */
void claim_release(struct http_request *request);

/* Takes over a download, ended when the request is. */
void claim_download(struct http_request *request, struct files_download *download);
