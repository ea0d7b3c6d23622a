#include "client/sandbox.h"

#include "base/alloc.h"
#include "base/macro.h"
#include "client/call.h"
#include "fetch/url.h"
#include "json/json.h"
#include "json/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define CONNECT_MS 5000	 /* a machine that is there answers in far less */
#define CALL_MS	   30000 /* a call that starts nothing; a PUT may wait 5 s for a place */
#define TOKEN_MAX  1024	 /* bytes: a head has 16 KiB */

#define UNIX_PREFIX "unix:"

/* What a token may be made of, so that it cannot end a header line. RFC 6750 section 2.1 */
static bool token_is_valid(const char *token)
{
	size_t n = strlen(token);

	return n > 0 && n <= TOKEN_MAX &&
	       strspn(token,
		       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=") ==
		       n;
}

static int unix_set(struct sandbox *sandbox, const char *path, struct fault *ret_fault)
{
	struct sockaddr_un address;

	if (path[0] != '/' || strlen(path) >= sizeof(address.sun_path)) {
		fault_set(ret_fault, FAULT_BAD_REQUEST,
			"%s: name a socket by its absolute path of at most %zu bytes",
			sandbox->server, sizeof(address.sun_path) - 1);
		return -EINVAL;
	}
	sandbox->socket_path = xstrdup(path);
	sandbox->base = xstrdup("http://localhost");
	sandbox->is_local = true;
	return 0;
}

static int server_set(struct sandbox *sandbox, struct fault *ret_fault)
{
	struct fetch_url url;
	const char *why;

	if (str_starts(str_from(sandbox->server), STR(UNIX_PREFIX)))
		return unix_set(sandbox, sandbox->server + strlen(UNIX_PREFIX), ret_fault);
	if (fetch_url_parse(sandbox->server, &url, &why) < 0) {
		fault_set(ret_fault, FAULT_BAD_REQUEST,
			"%.128s: %s; name a server as http://HOST:PORT or unix:PATH",
			sandbox->server, why);
		return -EINVAL;
	}
	sandbox->base = xstrdup(url.base);
	sandbox->is_local = url.is_loopback;
	return 0;
}

int sandbox_new(
	const struct sandbox_config *config, struct sandbox **ret_sandbox, struct fault *ret_fault)
{
	struct sandbox *sandbox = xcalloc(1, sizeof(*sandbox));
	int r;

	sandbox->server = xstrdup(config->server);
	sandbox->connect_ms = config->connect_ms ? config->connect_ms : CONNECT_MS;
	sandbox->call_ms = config->call_ms ? config->call_ms : CALL_MS;
	r = server_set(sandbox, ret_fault);
	if (r == 0 && config->token && !token_is_valid(config->token)) {
		fault_set(ret_fault, FAULT_BAD_REQUEST,
			"the token is none: it is empty, too long or has other characters");
		r = -EINVAL;
	}
	if (r < 0) {
		sandbox_free(sandbox);
		return r;
	}
	sandbox->token = config->token ? xstrdup(config->token) : NULL;
	*ret_sandbox = sandbox;
	return 0;
}

void sandbox_free(struct sandbox *sandbox)
{
	if (!sandbox)
		return;
	free(sandbox->server);
	free(sandbox->base);
	free(sandbox->socket_path);
	free(sandbox->token);
	free(sandbox);
}

const char *sandbox_server_get(const struct sandbox *sandbox)
{
	return sandbox->server;
}

bool sandbox_is_local(const char *server)
{
	struct fetch_url url;
	const char *why;

	return str_starts(str_from(server), STR(UNIX_PREFIX)) ||
	       (fetch_url_parse(server, &url, &why) == 0 && url.is_loopback);
}

/* GETs a JSON object. */
static int get_text(const struct sandbox *sandbox, const char *path, struct json **ret_json,
	struct sandbox_trouble *ret_trouble)
{
	struct call call;
	int r;

	call_init(&call, sandbox, "GET", JSON_SIZE_MAX);
	call_path_text(&call, path);
	r = call_json(&call, sandbox, ret_json, ret_trouble);
	call_fini(&call);
	return r;
}

int sandbox_health(
	const struct sandbox *sandbox, struct json **ret_json, struct sandbox_trouble *ret_trouble)
{
	return get_text(sandbox, "/health", ret_json, ret_trouble);
}

int sandbox_ready(
	const struct sandbox *sandbox, struct json **ret_json, struct sandbox_trouble *ret_trouble)
{
	return get_text(sandbox, "/ready", ret_json, ret_trouble);
}

int sandbox_info(
	const struct sandbox *sandbox, struct json **ret_json, struct sandbox_trouble *ret_trouble)
{
	return get_text(sandbox, "/v1/info", ret_json, ret_trouble);
}

int sandbox_sessions(
	const struct sandbox *sandbox, struct json **ret_json, struct sandbox_trouble *ret_trouble)
{
	return get_text(sandbox, "/v1/sessions", ret_json, ret_trouble);
}

/* Refuses a key or id that would be another path. */
static int name_add(struct call *call, const struct sandbox *sandbox, const char *name,
	struct sandbox_trouble *ret_trouble)
{
	if (call_path_segment(call, str_from(name)) == 0)
		return 0;
	(void)trouble_set(ret_trouble, sandbox, -EINVAL, "'%.64s' names nothing", name);
	ret_trouble->fault.code = FAULT_BAD_REQUEST;
	return -EINVAL;
}

int sandbox_session_get(const struct sandbox *sandbox, const char *key, struct json **ret_json,
	struct sandbox_trouble *ret_trouble)
{
	struct call call;
	int r;

	call_init(&call, sandbox, "GET", JSON_SIZE_MAX);
	call_path_text(&call, "/v1/sessions");
	r = name_add(&call, sandbox, key, ret_trouble);
	if (r == 0)
		r = call_json(&call, sandbox, ret_json, ret_trouble);
	call_fini(&call);
	return r;
}

int sandbox_session_close(
	const struct sandbox *sandbox, const char *key, struct sandbox_trouble *ret_trouble)
{
	struct call call;
	int r;

	call_init(&call, sandbox, "DELETE", 0);
	call_path_text(&call, "/v1/sessions");
	r = name_add(&call, sandbox, key, ret_trouble);
	if (r == 0)
		r = call_run(&call, sandbox, ret_trouble);
	call_fini(&call);
	return r;
}

/* POST without a body; parts: the path before the name, the name, the path behind it. */
static int post_empty(const struct sandbox *sandbox, const char *const parts[3],
	struct sandbox_trouble *ret_trouble)
{
	struct call call;
	int r;

	call_init(&call, sandbox, "POST", CALL_PROBLEM_MAX);
	call.fetch.content_type =
		"application/json"; /* a body of 0 bytes: Content-Length is sent */
	call_path_text(&call, parts[0]);
	r = name_add(&call, sandbox, parts[1], ret_trouble);
	call_path_text(&call, parts[2]);
	if (r == 0)
		r = call_run(&call, sandbox, ret_trouble);
	call_fini(&call);
	return r;
}

int sandbox_session_stop(
	const struct sandbox *sandbox, const char *key, struct sandbox_trouble *ret_trouble)
{
	return post_empty(
		sandbox, (const char *const[]){ "/v1/sessions", key, "/stop" }, ret_trouble);
}

int sandbox_cancel(
	const struct sandbox *sandbox, const char *run_id, struct sandbox_trouble *ret_trouble)
{
	return post_empty(
		sandbox, (const char *const[]){ "/v1/runs", run_id, "/cancel" }, ret_trouble);
}
