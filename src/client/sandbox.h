#pragma once

#include "base/fault.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The sandbox API of a cloche-supervisor, as typed calls. Each is one HTTP request and may be made
 * from any thread; one struct sandbox serves them all. architecture.md section 7, api/openapi.yaml
 */

struct sandbox;

struct sandbox_config {
	const char *server;  /* "http://host:port", "https://host", or "unix:/path/of/a.sock" */
	const char *token;   /* NULL: none. Never put into a text */
	unsigned connect_ms; /* 0: 5 s */
	unsigned call_ms;    /* for all calls but runs and files; 0: 30 s */
};

/*
 * Why a call failed, in the API's own words. What the supervisor refused is told as it told it; no
 * supervisor, no answer in time, or an answer that is none is SANDBOX_UNAVAILABLE too (E5), with
 * is_told false. The calls return with it:
 *
 *   -EREMOTEIO     the supervisor refused; fault is its problem
 *   -ECONNREFUSED  it cannot be reached
 *   -ETIMEDOUT     no answer, or no end of it, in time
 *   -ECONNRESET    the answer was cut
 *   -EPROTO        the answer is malformed, of a wrong type, or a redirect
 *   -EMSGSIZE      the answer is too large
 *   -ECANCELED     a function of the caller's stopped it
 *   -EINVAL        the request cannot be written: a key or path that names nothing
 *   -EIO           here: a file or descriptor failed
 */
struct sandbox_trouble {
	struct fault fault;
	unsigned retry_after_s; /* of the answer; 0 without */
	bool is_told;		/* by the supervisor */
};

/* Checks the configuration; connects nowhere. Returns 0, or -EINVAL with the fault. The caller
 * frees *ret_sandbox with sandbox_free; the configuration may go. */
int sandbox_new(
	const struct sandbox_config *config, struct sandbox **ret_sandbox, struct fault *ret_fault);
void sandbox_free(struct sandbox *sandbox);

/* The server as it was given. */
const char *sandbox_server_get(const struct sandbox *sandbox);

/* True if what is sent there stays on this machine. */
bool sandbox_is_local(const char *server);

struct json;

/* GET /health, /ready (a 503 is the trouble) and /v1/info, as the supervisor wrote them. The caller
 * frees *ret_json. */
int sandbox_health(
	const struct sandbox *sandbox, struct json **ret_json, struct sandbox_trouble *ret_trouble);
int sandbox_ready(
	const struct sandbox *sandbox, struct json **ret_json, struct sandbox_trouble *ret_trouble);
int sandbox_info(
	const struct sandbox *sandbox, struct json **ret_json, struct sandbox_trouble *ret_trouble);

/* All sessions, open or kept, that the token may see; one session; close one. The caller frees
 * *ret_json. */
int sandbox_sessions(
	const struct sandbox *sandbox, struct json **ret_json, struct sandbox_trouble *ret_trouble);
int sandbox_session_get(const struct sandbox *sandbox, const char *key, struct json **ret_json,
	struct sandbox_trouble *ret_trouble);
int sandbox_session_close(
	const struct sandbox *sandbox, const char *key, struct sandbox_trouble *ret_trouble);

/* Stops a kept session: only the store has it then. */
int sandbox_session_stop(
	const struct sandbox *sandbox, const char *key, struct sandbox_trouble *ret_trouble);

/* Ends a run, which then answers `cancelled`. */
int sandbox_cancel(
	const struct sandbox *sandbox, const char *run_id, struct sandbox_trouble *ret_trouble);
