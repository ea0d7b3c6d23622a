#pragma once

#include "client/answer.h"
#include "client/sandbox.h"

/* Runs a script in a session: as one answer, or as events while it goes on. */

/* A file that travels in the request; all of them together have at most 8 MiB. */
struct sandbox_inline_file {
	const char *path; /* UTF-8 */
	struct str content;
};

struct sandbox_run_request {
	const char *session;
	const char *run_id;   /* to cancel it by; NULL: the supervisor chooses one */
	const char *language; /* "python" or "bash" */
	struct str code;
	struct str stdin_text; /* .p NULL: none */
	const char *const *args;
	size_t n_args;
	const char *const *env; /* "NAME=value" */
	size_t n_env;
	const struct sandbox_inline_file *files;
	size_t n_files;
	const char *profile; /* NULL: the session's, or the default */
	const char *policy;  /* the same, or the token's */
	bool is_live;	     /* in the session's live interpreter, */
	bool is_reset;	     /* a new one */
	uint64_t timeout_ms; /* 0: the profile's */
	uint64_t answer_ms;  /* the whole call's bound: queue, run and files; 0: 150 s */
};

/*
 * Who looks on. Embedded in its owner (container_of); each function may be NULL and runs in the
 * thread of the call. Below 0: the connection is closed, with which the run ends.
 */
struct sandbox_watch {
	int (*on_queued)(struct sandbox_watch *watch, unsigned position);
	int (*on_started)(struct sandbox_watch *watch, struct str run_id, struct str session_state);
	int (*on_output)(struct sandbox_watch *watch, bool is_stderr, struct str text);
	int (*on_wake)(struct sandbox_watch *watch); /* wake_fd is readable */
	bool has_wake;
	int wake_fd;
};

/*
 * Both return 0 for every run that ended, whatever its end, or as client/sandbox.h says; -EINVAL
 * also when something is not UTF-8. End the answer with sandbox_answer_fini. watch may be NULL; of
 * a run without events only on_wake is called.
 */
int sandbox_run(const struct sandbox *sandbox, const struct sandbox_run_request *request,
	struct sandbox_watch *watch, struct sandbox_answer *ret_answer,
	struct sandbox_trouble *ret_trouble);
int sandbox_run_stream(const struct sandbox *sandbox, const struct sandbox_run_request *request,
	struct sandbox_watch *watch, struct sandbox_answer *ret_answer,
	struct sandbox_trouble *ret_trouble);
