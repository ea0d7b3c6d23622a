/* GET /v1/sessions/{key}/export and PUT /v1/sessions/{key}/import: a whole session as a tar. */
#include "supervisor/api.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "call/archive.h"
#include "house/house.h"
#include "http/request.h"
#include "http/respond.h"
#include "http/syntax/disposition.h"
#include "supervisor/caller.h"
#include "supervisor/claim.h"
#include "supervisor/supervisor.h"
#include "json/json.h"

#include <errno.h>

static void audit(struct http_request *request, const char *event, const char *key, uint64_t bytes)
{
	AUTO_JSON struct json *line = audit_line(request, event);

	json_set_cstr(line, "session", key);
	json_set_count(line, "bytes", bytes);
	audit_write(&supervisor_of(request)->audit, line);
}

void api_session_export(struct http_request *request)
{
	char key[ID_KEY_MAX + 1], name[ID_KEY_MAX + 8], disposition[DISPOSITION_SIZE];
	struct files_open_result file;
	struct files_at at;
	struct fault fault;

	if (!api_key_get(request, key))
		return;
	at = (struct files_at){ .tenant = caller_get(request)->tenant, .key = key };
	if (archive_export(supervisor_of(request)->house, &at, http_client_fd_get(request), &file,
		    &fault) < 0) {
		api_respond_busy(request, &fault);
		return;
	}
	claim_download(request, file.download);
	audit(request, "session_export", key, file.size_bytes);
	(void)str_format(name, sizeof(name), "%s.tar", key);
	disposition_make(str_from(name), disposition);
	http_header_add(request, "Content-Disposition", disposition);
	http_respond_file(request, file.fd, file.mime);
}

static int import_take(void *import, const void *data, size_t size, struct fault *ret_fault)
{
	return archive_import_feed(import, data, size, ret_fault);
}

void api_session_import(struct http_request *request)
{
	static const char *const names[] = { "profile", "policy", NULL };
	struct files_upload_request upload = { .profiles = caller_profiles(caller_get(request)),
		.policy = HOUSE_KEPT,
		.is_import = true,
		.client_fd = http_client_fd_get(request) };
	struct archive_import *import = NULL;
	struct api_opening texts;
	struct json *body;
	char key[ID_KEY_MAX + 1];
	uint64_t size = 0, skipped = 0;
	struct fault fault;
	int r;

	if (!api_key_get(request, key))
		return;
	upload.at = (struct files_at){ .tenant = caller_get(request)->tenant, .key = key };
	r = api_opening_get(request, names, &texts, &upload, &fault);
	if (r == 0)
		r = archive_import_begin(supervisor_of(request)->house, &upload, &import, &fault);
	if (r < 0) {
		api_respond_busy(request, &fault);
		return;
	}
	if (api_body_move(request, import_take, import, &size) < 0) {
		archive_import_abort(import);
		return;
	}
	if (archive_import_end(import, &skipped, &fault) < 0) {
		http_respond_fault(request, &fault);
		return;
	}
	audit(request, "session_import", key, size);
	body = json_object_new();
	json_set_count(body, "skipped", skipped);
	api_respond(request, 201, body);
}
