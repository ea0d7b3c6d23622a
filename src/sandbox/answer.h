#pragma once

#include "jail/files/changes.h"
#include "sandbox/run.h"
#include "wire/limits.h"
#include "wire/package.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fault;
struct json;

/* The answer to a run as every door gives it; cloche-run(1) has its members. */

struct answer_file {
	struct str path; /* in the home; bytes */
	uint64_t size_bytes;
	const char *mime;  /* NULL for one that is not there any more or was not looked at */
	const char *saved; /* where the caller put it on the host, or NULL */
	enum change_kind change;
};

struct answer {
	const char *run_id;
	const char *session;
	const char *session_state; /* "new", "reused" or "reset" */
	const char *reset_reason;  /* why something of it is gone since its last call, or NULL */
	bool is_without_files;	   /* its files are */
	const char *lost_names;	   /* of globals, a newline between them, or NULL */
	const char *restored;	   /* why its session had stopped; a kept one's, or NULL */
	bool is_partly_kept;	   /* something in its home is not kept */
	enum package_language language;
	const struct run *run; /* that is over */
	const struct wire_limits *limits;
	uint64_t wall_ms; /* the limit that held for this run */
	bool has_stdin;
	const struct answer_file *files;
	size_t n_files;
	bool is_files_truncated;
	const struct report_result *results; /* as sandbox/results.h picks them */
	size_t n_results;
	uint64_t queue_us;
	uint32_t protections; /* enum wire_protection, as a set */
};

/* Builds it; the caller frees with json_free. */
struct json *answer_make(const struct answer *answer);

/* One element of its `files`, alone: {path, path_b64?, size, mime, change, saved?, saved_b64?}. The
 * caller frees it with json_free. */
struct json *answer_file_make(const struct answer_file *file);

/* Sets `saved` in such an element, and `saved_b64` where the name is not UTF-8. */
void answer_saved_set(struct json *entry, const char *saved);

/* Sets its `protections`: "full", or the list of those that are off. */
void answer_protections_set(struct json *object, uint32_t protections);

/* The two parts of end.text (sandbox/end.h), appended to out. */
void answer_end_sentence(const struct answer *answer, struct buf *out);
void answer_end_hints(const struct answer *answer, struct buf *out);

/* What cannot be done, as an object: code, status, detail, advice; stage and field where there are
 * some. RFC 9457 has its members besides. The caller frees with json_free. */
struct json *answer_problem(const struct fault *fault);
