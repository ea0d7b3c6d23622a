/*
 * Any body is read as a run's. What is taken keeps the form's promises; what is refused says why,
 * in UTF-8, since it goes into a problem.
 */
#include "call/run_form.h"

#include "base/assert.h"
#include "base/fault.h"
#include "base/utf8.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void call_check(const struct call_request *call)
{
	assert(call->code.p);
	assert(call->n_args <= PACKAGE_ARGS_MAX && call->n_env <= PACKAGE_ENV_MAX);
	assert(call->n_files <= CALL_FILES_MAX);
	for (size_t i = 0; i < call->n_env; i++)
		assert(memchr(call->env[i].p, '=', call->env[i].n));
	for (size_t i = 0; i < call->n_files; i++)
		assert(call->files[i].path.p && call->files[i].content.p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run_form form;
	struct fault fault = { 0 };
	int r = run_form_parse((struct str){ .p = (const char *)data, .n = size }, &form, &fault);

	if (r == 0) {
		call_check(&form.call);
	} else {
		assert(fault.code != FAULT_NONE && fault.text[0]);
		assert(utf8_is_valid(fault.text, strlen(fault.text)));
		assert(utf8_is_valid(fault.field, strlen(fault.field)));
	}
	run_form_fini(&form);
	return 0;
}
