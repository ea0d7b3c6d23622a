#pragma once

#include "base/fault.h"
#include "base/str.h"
#include "house/house.h"
#include "sandbox/answer.h"
#include "sandbox/run.h"
#include "wire/package.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

/*
 * One whole run for a client, as straight-line code in the caller's thread: find or open the
 * session, bring files in, run, find what changed, answer.
 */

#define CALL_FILES_BYTES_MAX (8u * 1024 * 1024) /* inline files in all, decoded */
#define CALL_FILES_MAX	     1000		/* as many as an answer lists */
/* Bytes of a stream that are told as they come; the rest is in the answer, head and tail. */
#define CALL_STREAM_MAX (1024u * 1024)

/* An inline file: text as it is, or base64. */
struct call_file {
	struct str path; /* bytes; relative, without "", "." and ".." as parts */
	struct str content;
	bool is_base64;
};

/*
 * Who looks on while the call is under way. Embedded in its owner (container_of); each function may
 * be NULL. All are called in the thread of call_run and none under a lock; one that waits for a
 * slow reader delays the run's draining. Below 0: the client is gone, the run is cancelled.
 */
struct call_watch {
	/* Waits for a place; again when the position (from 1) changes. */
	int (*on_queued)(struct call_watch *watch, unsigned position);
	/* The script is running. session_state: "new", "reused", "reset". */
	int (*on_started)(struct call_watch *watch, const char *run_id, const char *session_state);
	/* What the script printed; never ends inside a UTF-8 character, and is not repaired. */
	int (*on_output)(struct call_watch *watch, enum run_stream stream, struct str text);
	/* After the end, for each result; results_make_one gives its JSON. */
	int (*on_result)(struct call_watch *watch, const struct report_result *result);
	/* Then for each changed file; answer_file_make gives its JSON. */
	int (*on_file)(struct call_watch *watch, const struct answer_file *file);
};

/* All that a client asks for. Pointers are borrowed until call_run returns. Everything but language
 * and the types is checked by call_run. */
struct call_request {
	const char *tenant;	     /* 1 to HOUSE_TENANT_MAX bytes */
	const char *key;	     /* of the session */
	const char *run_id;	     /* chosen by the client, or NULL */
	const char *policy;	     /* HOUSE_EPHEMERAL, HOUSE_KEPT; NULL: the open session's, or
				      * the former */
	const char *policy_default;  /* of the caller; NULL: ephemeral */
	const char *state;	     /* HOUSE_STATE, HOUSE_LIVE; NULL: the open session's, or the
				      * former */
	bool is_reset;		     /* a new interpreter; only of live Python */
	const char *profile;	     /* NULL: the open session's, or the default */
	const char *const *profiles; /* that the tenant may ask for, NULL-ended; NULL: all */
	enum package_language language;
	struct str code;
	struct str stdin_bytes; /* .p NULL: none */
	const struct str *args; /* without NUL */
	size_t n_args;
	const struct str *env; /* "NAME=value", without NUL */
	size_t n_env;
	const struct call_file *files;
	size_t n_files;
	uint64_t timeout_ms;	  /* 0: the profile's; never above it */
	int client_fd;		  /* a hang-up or half-close there cancels; -1: none */
	struct call_watch *watch; /* NULL: nobody looks on */
};

struct call_result {
	char run_id[HOUSE_RUN_ID_MAX + 1]; /* "" if it was refused before it had one */
	bool is_session_opened;		   /* by this call */
	bool is_client_gone;		   /* hung up: nobody waits for the answer */
	unsigned retry_after_s;		   /* with SANDBOX_BUSY: for Retry-After; else 0 */
	char profile[32];		   /* that held, "" if none was found */
	/* Once it ended: for logs and the audit. Literals. */
	const char *outcome; /* "ok", "error", "timeout", "killed"; NULL without an end */
	const char *reason;
	int code; /* exit status or signal */
	uint64_t queue_us;
	uint64_t wall_us;
	uint64_t output_bytes;
	struct fault fault;  /* with an error */
	struct json *answer; /* the whole answer; the caller frees it with json_free */
};

/*
 * Runs it. Returns 0 with ret_result->answer for every run that ended, whatever its end; else
 * -errno with ret_result->fault:
 *
 *   INVALID_FIELD  with the field ("code", "args", "env", "files[2].path", "timeout_ms", "profile",
 *		    "policy", "state", "run_id", "key"); also when the open session has another
 *profile TOO_LARGE	    code, stdin or inline files over their bounds FORBIDDEN	    a
 *profile that is not in profiles SESSION_BUSY   the session has a run (409), at once, never queued
 *   SANDBOX_BUSY   no place became free, or too many wait
 *   HOME_FULL	    the inline files do not fit: those before stay, nothing runs
 *   RUN_FINISHED   cancelled, or the client gone, while it waited for a place: nothing ran
 *   SANDBOX_UNAVAILABLE  with the stage; jaild lost; draining
 *   STORE_FULL	    a kept session's files could not be stored: the run has ended all the same,
 *		    and outcome and reason are there
 *   STORE_CORRUPT  what is stored of the session cannot be used: nothing ran
 *
 * ret_result is filled in either case.
 */
int call_run(
	struct house *house, const struct call_request *request, struct call_result *ret_result);
