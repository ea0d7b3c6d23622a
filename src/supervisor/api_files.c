/*
 * /v1/sessions/{key}/files and below it: list, get, put, remove. Nothing of a file is held in
 * memory but one block; what a path may be is for jaild to say, which opens it beneath the home.
 */
#include "supervisor/api.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/str.h"
#include "base/utf8.h"
#include "call/files.h"
#include "house/house.h"
#include "http/request.h"
#include "http/respond.h"
#include "http/syntax/disposition.h"
#include "supervisor/caller.h"
#include "supervisor/claim.h"
#include "supervisor/supervisor.h"
#include "json/json.h"

#include <errno.h>
#include <time.h>

/* Bytes that a list may take while it is made, and as JSON: all of FILES_PAGE_BYTES_MAX escaped,
 * and 1,000 rows. */
#define LIST_BYTES_MAX ((size_t)8 * 1024 * 1024)

/* Fills in whose file it is. False after it was answered. */
static bool at_get(struct http_request *request, char key[ID_KEY_MAX + 1], struct files_at *ret_at)
{
	if (!api_key_get(request, key))
		return false;
	*ret_at = (struct files_at){ .tenant = caller_get(request)->tenant, .key = key };
	return true;
}

/* ?limit=, 1 to FILES_PAGE_MAX, which it is by default. */
static int limit_get(const struct http_request *request, size_t *ret_limit, struct fault *ret_fault)
{
	static const char *const names[] = { "limit", "after", NULL };
	struct str text;
	uint64_t limit = FILES_PAGE_MAX;
	int r = http_query_check(request, names, ret_fault);

	if (r < 0)
		return r;
	if (http_query_get(request, "limit", &text) &&
		(str_to_u64(text, FILES_PAGE_MAX, &limit) < 0 || limit == 0)) {
		fault_set_field(
			ret_fault, "limit", "must be a number from 1 to %d", FILES_PAGE_MAX);
		return -EINVAL;
	}
	*ret_limit = limit;
	return 0;
}

/* As text, and in base64 besides where that loses something (decision 18). */
static void path_set(struct json *object, const char *name, const char *name_b64, struct str path)
{
	AUTO_BUF struct buf encoded = BUF_INIT(BASE64_SIZE(HTTP_PATH_MAX) + 16);

	json_set_text(object, name, path);
	if (utf8_is_valid(path.p, path.n))
		return;
	(void)base64_encode(path, &encoded);
	json_set_text(object, name_b64, buf_get_slice(&encoded));
}

static struct json *page_make(const struct files_page *page)
{
	struct json *body = json_object_new(), *rows = json_set_array(body, "files");

	for (size_t i = 0; i < page->n; i++) {
		const struct files_entry *entry = &page->entries[i];
		struct json *row = json_add_object(rows);

		path_set(row, "path", "path_b64", entry->path);
		json_set_count(row, "size", entry->size_bytes);
		json_set_cstr(row, "mime", entry->mime);
		api_time_set(row, "mtime", entry->mtime_ns);
	}
	if (page->has_more && page->n > 0)
		path_set(body, "next", "next_b64", page->entries[page->n - 1].path);
	else
		json_set_null(body, "next");
	json_set_bool(body, "truncated", page->is_truncated);
	return body;
}

void api_file_list(struct http_request *request)
{
	struct files_page page;
	struct files_at at;
	char key[ID_KEY_MAX + 1];
	struct fault fault;
	struct json *body;
	size_t limit;
	int r;

	if (!at_get(request, key, &at))
		return;
	if (!http_query_get(request, "after", &at.path))
		at.path = STR("");
	r = limit_get(request, &limit, &fault);
	if (r == 0 && !claim_answer(request, LIST_BYTES_MAX))
		return;
	if (r == 0)
		r = files_list(supervisor_of(request)->house, &at, limit, &page, &fault);
	if (r < 0) {
		http_respond_fault(request, &fault);
		return;
	}
	body = page_make(&page);
	files_page_fini(&page);
	api_respond_claimed(request, 200, body);
}

void api_file_get(struct http_request *request)
{
	struct files_open_result file;
	struct files_at at;
	char key[ID_KEY_MAX + 1], tag[64], disposition[DISPOSITION_SIZE];
	struct fault fault;

	if (!at_get(request, key, &at))
		return;
	at.path = http_parameter_get(request, "path");
	if (files_open(supervisor_of(request)->house, &at, http_client_fd_get(request), &file,
		    &fault) < 0) {
		http_respond_fault(request, &fault);
		return;
	}
	claim_download(request, file.download);
	(void)str_format(tag, sizeof(tag), "\"%llx-%llx-%llx\"", (unsigned long long)file.inode,
		(unsigned long long)file.mtime_ns, (unsigned long long)file.size_bytes);
	http_header_add(request, "ETag", tag);
	disposition_make(at.path, disposition);
	http_header_add(request, "Content-Disposition", disposition);
	/* Should a browser show it after all, its scripts have no origin. */
	http_header_add(request, "Content-Security-Policy", "sandbox; default-src 'none'");
	http_respond_file(request, file.fd, file.mime);
}

static int upload_take(void *upload, const void *data, size_t size, struct fault *ret_fault)
{
	return files_write(upload, data, size, ret_fault);
}

static void audit_file(
	struct http_request *request, const char *event, const struct files_at *at, uint64_t size)
{
	AUTO_JSON struct json *line = audit_line(request, event);

	json_set_cstr(line, "session", at->key);
	json_set_text(line, "path", at->path);
	if (size != UINT64_MAX)
		json_set_count(line, "bytes", size);
	audit_write(&supervisor_of(request)->audit, line);
}

int api_opening_get(const struct http_request *request, const char *const *names,
	struct api_opening *texts, struct files_upload_request *upload, struct fault *ret_fault)
{
	struct str text;
	int r = http_query_check(request, names, ret_fault);

	if (r < 0)
		return r;
	if (http_query_get(request, "profile", &text)) {
		upload->profile = texts->profile;
		if (str_format(texts->profile, sizeof(texts->profile), "%.*s", STR_ARG(text)) < 0) {
			fault_set_field(ret_fault, "profile",
				"must be the name of a profile, at most %zu bytes",
				sizeof(texts->profile) - 1);
			return -EINVAL;
		}
	}
	if (http_query_get(request, "policy", &text)) {
		upload->policy = texts->policy;
		/* What does not fit is none of them: "" is refused with the right words. */
		(void)str_format(texts->policy, sizeof(texts->policy), "%.*s", STR_ARG(text));
	}
	return 0;
}

/* Opens the upload with what the query asks for. Returns 0; a value below 0 after it was answered.
 */
static int upload_open(
	struct http_request *request, const struct files_at *at, struct files_upload **ret_upload)
{
	static const char *const names[] = { "executable", "profile", "policy", NULL };
	const struct caller *caller = caller_get(request);
	struct files_upload_request upload = { .at = *at,
		.profiles = caller_profiles(caller),
		.policy_default = caller->policy,
		.client_fd = http_client_fd_get(request) };
	struct house *house = supervisor_of(request)->house;
	struct str text = STR("false");
	struct api_opening texts;
	struct fault fault;
	int r = 0;

	if (http_query_get(request, "executable", &text) && !str_eq(text, STR("true")) &&
		!str_eq(text, STR("false"))) {
		fault_set_field(&fault, "executable", "must be true or false");
		r = -EINVAL;
	}
	upload.is_executable = str_eq(text, STR("true"));
	if (r == 0)
		r = api_opening_get(request, names, &texts, &upload, &fault);
	if (r == 0)
		r = files_create(house, &upload, ret_upload, &fault);
	if (r < 0)
		api_respond_busy(request, &fault);
	return r;
}

void api_file_put(struct http_request *request)
{
	struct files_upload *upload = NULL;
	struct files_at at;
	char key[ID_KEY_MAX + 1];
	struct fault fault;
	bool is_new = false;
	uint64_t size = 0;

	if (!at_get(request, key, &at))
		return;
	at.path = http_parameter_get(request, "path");
	if (upload_open(request, &at, &upload) < 0)
		return;
	if (api_body_move(request, upload_take, upload, &size) < 0) {
		files_abort(upload);
		return;
	}
	if (files_commit(upload, &is_new, &fault) < 0) {
		http_respond_fault(request, &fault);
		return;
	}
	audit_file(request, "put", &at, size);
	http_respond_empty(request, is_new ? 201 : 204);
}

void api_file_remove(struct http_request *request)
{
	struct files_at at;
	char key[ID_KEY_MAX + 1];
	struct fault fault;

	if (!at_get(request, key, &at))
		return;
	at.path = http_parameter_get(request, "path");
	if (files_remove(supervisor_of(request)->house, &at, &fault) < 0) {
		http_respond_fault(request, &fault);
		return;
	}
	audit_file(request, "remove", &at, UINT64_MAX);
	http_respond_empty(request, 204);
}
