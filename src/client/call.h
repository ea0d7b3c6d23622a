#pragma once

#include "base/buf.h"
#include "client/sandbox.h"
#include "fetch/fetch.h"

/*
 * One request to a supervisor and what its answer means; under the typed calls. For this folder
 * only.
 */

struct sandbox {
	char *server;	   /* as given */
	char *base;	   /* of URLs */
	char *socket_path; /* or NULL */
	char *token;	   /* or NULL */
	bool is_local;
	unsigned connect_ms, call_ms;
};

#define CALL_PROBLEM_MAX (64u * 1024) /* bytes of a refusal that are read */

struct call {
	struct fetch_request fetch; /* method, bodies, accept, bounds; the rest is filled here */
	const char *type;	    /* of a good answer's body; NULL: there is none, or of any */
	bool is_end_by_close_fine;  /* the body tells its own end */
	/* Takes a good answer's body; NULL: it is gathered in body. */
	int (*on_bytes)(struct call *call, struct str bytes);
	int (*on_wake)(struct call *call);
	struct buf path; /* "/v1/...", encoded */

	/* Filled by call_run. */
	struct fetch_answer answer;
	struct buf body; /* of a refusal, or of a good answer */
	struct fetch_watch watch;
	bool is_good; /* a status of 200 to 299 and the type asked for */
};

/* A call of the sandbox's bounds; answer_max bytes are taken. End it with call_fini. */
void call_init(
	struct call *call, const struct sandbox *sandbox, const char *method, uint64_t answer_max);
void call_fini(struct call *call);

/* Append to the path: text of ours; "/" and one segment, encoded; "/" and a file's path, whose
 * slashes stay. Return 0, or -EINVAL for what names nothing: "", ".", "..", NUL. RFC 3986 2.1 */
void call_path_text(struct call *call, const char *text);
int call_path_segment(struct call *call, struct str segment);
int call_path_file(struct call *call, struct str path);

/* Appends a value of the query, encoded. */
void call_query_value(struct call *call, struct str value);

/* Sends it and judges the answer. Returns 0 for a good one; else as client/sandbox.h says. */
int call_run(struct call *call, const struct sandbox *sandbox, struct sandbox_trouble *ret_trouble);

/* As call_run, and parses the body. The caller frees *ret_json. */
int call_json(struct call *call, const struct sandbox *sandbox, struct json **ret_json,
	struct sandbox_trouble *ret_trouble);

/* Fills a trouble of ours; returns r. */
__attribute__((format(printf, 4, 5))) int trouble_set(struct sandbox_trouble *trouble,
	const struct sandbox *sandbox, int r, const char *format, ...);
