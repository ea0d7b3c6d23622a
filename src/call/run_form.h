#pragma once

#include "base/str.h"
#include "call/call.h"
#include "wire/package.h"

struct fault;
struct json;

/* The body of POST /v1/sessions/{key}/run as a request to the house. */

#define RUN_FORM_WORD_SIZE 128 /* of run_id, policy, state, profile: longer ones are wrong */

struct run_form {
	struct call_request call; /* points into all below */
	struct json *json;
	char run_id[RUN_FORM_WORD_SIZE];
	char policy[RUN_FORM_WORD_SIZE];
	char state[RUN_FORM_WORD_SIZE];
	char profile[RUN_FORM_WORD_SIZE];
	struct str args[PACKAGE_ARGS_MAX];
	struct str env[PACKAGE_ENV_MAX];
	char *env_texts[PACKAGE_ENV_MAX]; /* owned */
	struct call_file *files;	  /* owned */
};

/* Reads the body: JSON, an object, its fields of the right kinds, none that is unknown. Bounds are
 * for call_run. Returns 0, or -errno with *ret_fault. End it with run_form_fini in either case;
 * twice is fine. The form must not be moved. */
int run_form_parse(struct str body, struct run_form *ret_form, struct fault *ret_fault);
void run_form_fini(struct run_form *form);
