#include "client/files.h"

#include "base/base64.h"
#include "base/fd.h"
#include "base/macro.h"
#include "client/call.h"
#include "json/json.h"
#include "json/parse.h"

#include <errno.h>
#include <string.h>

#define FILE_MS		  30000	       /* before the first byte */
#define FILE_RATE	  (16u * 1024) /* bytes/s: a bad mobile line has more */
#define FILE_SILENCE_MS	  30000
#define FILE_DOWNLOAD_MAX (1ULL << 38) /* home_bytes has no more (wire/limits.def) */

int sandbox_path_read(const struct json *object, struct sandbox_path *ret_path)
{
	AUTO_BUF struct buf decoded = BUF_INIT(sizeof(ret_path->bytes) - 1);
	struct str text;

	if (json_as_text(json_get(object, "path_b64"), &text) == 0) {
		if (base64_decode(text, &decoded) < 0)
			return -EBADMSG;
		text = buf_get_slice(&decoded);
	} else if (json_as_text(json_get(object, "path"), &text) < 0) {
		return -EBADMSG;
	}
	if (text.n == 0 || text.n >= sizeof(ret_path->bytes) || memchr(text.p, '\0', text.n))
		return -EBADMSG;
	memcpy(ret_path->bytes, text.p, text.n);
	ret_path->bytes[text.n] = '\0';
	ret_path->n = text.n;
	return 0;
}

/* Begins a call about the file of a session; path .n 0: about all of them. */
static int file_call(struct call *call, const struct sandbox *sandbox, const char *key,
	struct str path, struct sandbox_trouble *ret_trouble)
{
	int r;

	call_path_text(call, "/v1/sessions");
	r = call_path_segment(call, str_from(key));
	call_path_text(call, "/files");
	if (r == 0 && path.n > 0)
		r = call_path_file(call, path);
	if (r < 0) {
		(void)trouble_set(ret_trouble, sandbox, r,
			"the path '%.*s' of session '%.64s' names no file",
			(int)MIN(path.n, (size_t)64), path.p ? path.p : "", key);
		ret_trouble->fault.code = FAULT_BAD_REQUEST;
	}
	return r;
}

int sandbox_files(const struct sandbox *sandbox, const char *key, struct str after,
	struct json **ret_json, struct sandbox_trouble *ret_trouble)
{
	struct call call;
	int r;

	call_init(&call, sandbox, "GET", JSON_SIZE_MAX);
	r = file_call(&call, sandbox, key, (struct str){ NULL, 0 }, ret_trouble);
	if (r == 0 && after.n > 0) {
		call_path_text(&call, "?after=");
		call_query_value(&call, after);
	}
	if (r == 0)
		r = call_json(&call, sandbox, ret_json, ret_trouble);
	call_fini(&call);
	return r;
}

/* A call that writes what it gets to a descriptor. */
struct download {
	struct call call;
	int out_fd;
	int error;
};

static int on_bytes(struct call *call, struct str bytes)
{
	struct download *download = container_of(call, struct download, call);

	download->error = fd_write_full(download->out_fd, bytes.p, bytes.n);
	return download->error;
}

/* Runs a call whose path is there; the answer goes to out_fd. */
static int download_run(struct download *download, const struct sandbox *sandbox,
	struct sandbox_trouble *ret_trouble)
{
	struct call *call = &download->call;
	int r;

	call->fetch.answer_max = FILE_DOWNLOAD_MAX;
	call->fetch.accept = "*/*";
	call->fetch.total_ms = FILE_MS;
	call->fetch.rate_bytes_per_s = FILE_RATE;
	call->fetch.silence_ms = FILE_SILENCE_MS;
	call->on_bytes = on_bytes;
	r = call_run(call, sandbox, ret_trouble);
	if (r < 0 && download->error < 0)
		r = trouble_set(ret_trouble, sandbox, -EIO, "the copy cannot be written here: %s",
			strerror(-download->error));
	return r;
}

int sandbox_file_get(const struct sandbox *sandbox, const char *key, struct str path, int out_fd,
	struct sandbox_trouble *ret_trouble)
{
	struct download download = { .out_fd = out_fd };
	int r;

	call_init(&download.call, sandbox, "GET", 0);
	r = file_call(&download.call, sandbox, key, path, ret_trouble);
	if (r == 0)
		r = download_run(&download, sandbox, ret_trouble);
	call_fini(&download.call);
	return r;
}

/* Begins a call about a whole session. */
static int session_call(struct call *call, const struct sandbox *sandbox, const char *key,
	const char *what, struct sandbox_trouble *ret_trouble)
{
	int r;

	call_path_text(call, "/v1/sessions");
	r = call_path_segment(call, str_from(key));
	call_path_text(call, what);
	if (r < 0) {
		(void)trouble_set(ret_trouble, sandbox, r, "'%.64s' names nothing", key);
		ret_trouble->fault.code = FAULT_BAD_REQUEST;
	}
	return r;
}

int sandbox_session_export(const struct sandbox *sandbox, const char *key, int out_fd,
	struct sandbox_trouble *ret_trouble)
{
	struct download download = { .out_fd = out_fd };
	int r;

	call_init(&download.call, sandbox, "GET", 0);
	r = session_call(&download.call, sandbox, key, "/export", ret_trouble);
	if (r == 0)
		r = download_run(&download, sandbox, ret_trouble);
	call_fini(&download.call);
	return r;
}

/* The query of what opens a session: names and values, those that are there. */
static void query_add(struct call *call, const struct sandbox_put *put)
{
	const struct {
		const char *name, *value;
	} fields[] = { { "executable=", put->is_executable ? "true" : NULL },
		{ "profile=", put->profile }, { "policy=", put->policy } };
	const char *before = "?";

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!fields[i].value)
			continue;
		call_path_text(call, before);
		call_path_text(call, fields[i].name);
		call_query_value(call, str_from(fields[i].value));
		before = "&";
	}
}

/* The bytes of the descriptor as the body of a call whose path is there. */
static void upload_set(struct call *call, const struct sandbox_put *put)
{
	call->fetch.content_type = "application/octet-stream";
	call->fetch.is_body_fd = true;
	call->fetch.body_fd = put->fd;
	call->fetch.body_size = put->size_bytes;
	call->fetch.total_ms = FILE_MS;
	call->fetch.rate_bytes_per_s = FILE_RATE;
	call->fetch.silence_ms = FILE_SILENCE_MS;
	query_add(call, put);
}

int sandbox_session_import(const struct sandbox *sandbox, const struct sandbox_put *put,
	struct json **ret_json, struct sandbox_trouble *ret_trouble)
{
	struct call call;
	int r;

	call_init(&call, sandbox, "PUT", 0);
	r = session_call(&call, sandbox, put->key, "/import", ret_trouble);
	if (r == 0) {
		upload_set(&call, put);
		r = call_json(&call, sandbox, ret_json, ret_trouble);
	}
	call_fini(&call);
	return r;
}

int sandbox_file_put(const struct sandbox *sandbox, const struct sandbox_put *put,
	struct sandbox_trouble *ret_trouble)
{
	struct call call;
	int r;

	call_init(&call, sandbox, "PUT", 0);
	r = file_call(&call, sandbox, put->key, put->path, ret_trouble);
	if (r == 0) {
		upload_set(&call, put);
		r = call_run(&call, sandbox, ret_trouble);
	}
	call_fini(&call);
	return r;
}

int sandbox_file_remove(const struct sandbox *sandbox, const char *key, struct str path,
	struct sandbox_trouble *ret_trouble)
{
	struct call call;
	int r;

	call_init(&call, sandbox, "DELETE", 0);
	r = file_call(&call, sandbox, key, path, ret_trouble);
	if (r == 0)
		r = call_run(&call, sandbox, ret_trouble);
	call_fini(&call);
	return r;
}

int sandbox_file_head(const struct sandbox *sandbox, const char *key, struct str path,
	struct sandbox_file_head *ret_head, struct sandbox_trouble *ret_trouble)
{
	struct call call;
	int r;

	call_init(&call, sandbox, "HEAD", 0);
	call.fetch.accept = "*/*";
	r = file_call(&call, sandbox, key, path, ret_trouble);
	if (r == 0)
		r = call_run(&call, sandbox, ret_trouble);
	if (r == 0) {
		ret_head->size_bytes = call.answer.length > 0 ? (uint64_t)call.answer.length : 0;
		(void)str_copy(ret_head->mime, sizeof(ret_head->mime), call.answer.content_type);
	}
	call_fini(&call);
	return r;
}
