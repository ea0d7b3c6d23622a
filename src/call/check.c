/* Every bound of a run's request, in the order of its fields; the text names the bound. */
#include "call/check.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/macro.h"
#include "base/str.h"
#include "call/call.h"
#include "house/visit/visit.h"
#include "sandbox/run.h"
#include "turns/runs.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static int too_large(struct fault *ret_fault, const char *what, uint64_t max)
{
	fault_set(ret_fault, FAULT_TOO_LARGE, "%s may have %llu bytes at most", what,
		(unsigned long long)max);
	return -E2BIG;
}

static int state_check(const struct call_request *request, struct fault *ret_fault)
{
	const char *state = request->state;

	if (state && strcmp(state, HOUSE_STATE) != 0 && strcmp(state, HOUSE_LIVE) != 0) {
		fault_set_field(
			ret_fault, "state", "must be \"%s\" or \"%s\"", HOUSE_STATE, HOUSE_LIVE);
		return -EINVAL;
	}
	if (!request->is_reset || request->language == PACKAGE_PYTHON)
		return 0;
	fault_set_field(ret_fault, "reset", "only Python has an interpreter that lives on");
	return -EINVAL;
}

static int words_check(const struct call_request *request, struct fault *ret_fault)
{
	int r = visit_check_policy(request->policy, ret_fault);

	if (r == 0)
		r = state_check(request, ret_fault);
	if (r == 0 && request->run_id && !runs_id_is_valid(request->run_id)) {
		fault_set_field(ret_fault, "run_id", "a run's id is 1 to %d of A-Z a-z 0-9 _ -",
			HOUSE_RUN_ID_MAX);
		r = -EINVAL;
	}
	return r;
}

/* Arguments as the package takes them: a count, and all bytes with their NULs. */
static int args_check(const struct call_request *request, struct fault *ret_fault)
{
	size_t bytes = 0;

	if (request->n_args > PACKAGE_ARGS_MAX) {
		fault_set_field(ret_fault, "args", "at most %d arguments", PACKAGE_ARGS_MAX);
		return -EINVAL;
	}
	for (size_t i = 0; i < request->n_args; i++)
		bytes += request->args[i].n + 1;
	if (bytes > PACKAGE_ARG_BYTES_MAX) {
		fault_set_field(ret_fault, "args", "at most %d bytes of arguments in all",
			PACKAGE_ARG_BYTES_MAX);
		return -EINVAL;
	}
	return 0;
}

static int variable_check(struct str variable, struct fault *ret_fault)
{
	AUTO_BUF struct buf text = BUF_INIT(PACKAGE_ENV_BYTES_MAX);
	struct str name, value;

	(void)str_split_once(variable, '=', &name, &value);
	if (buf_add_slice(&text, variable) == 0 && package_env_is_allowed(buf_get_cstr(&text)))
		return 0;
	fault_set_field(ret_fault, "env", "the variable %.*s may not be set", (int)MIN(name.n, 64u),
		name.p);
	return -EINVAL;
}

static int env_check(const struct call_request *request, struct fault *ret_fault)
{
	size_t bytes = 0;

	if (request->n_env > PACKAGE_ENV_MAX) {
		fault_set_field(ret_fault, "env", "at most %d variables", PACKAGE_ENV_MAX);
		return -EINVAL;
	}
	for (size_t i = 0; i < request->n_env; i++)
		bytes += request->env[i].n + 1;
	if (bytes > PACKAGE_ENV_BYTES_MAX) {
		fault_set_field(ret_fault, "env", "at most %d bytes of variables in all",
			PACKAGE_ENV_BYTES_MAX);
		return -EINVAL;
	}
	for (size_t i = 0; i < request->n_env; i++) {
		int r = variable_check(request->env[i], ret_fault);

		if (r < 0)
			return r;
	}
	return 0;
}

/* A relative path without empty, "." and ".." parts, as jaild takes it. */
static bool path_is_valid(struct str path)
{
	struct str part;
	bool has_more = true;

	if (path.n >= PATH_MAX || (path.n > 0 && memchr(path.p, '\0', path.n)))
		return false;
	while (has_more) {
		has_more = str_split_once(path, '/', &part, &path);
		if (part.n == 0 || part.n > NAME_MAX || str_eq(part, STR(".")) ||
			str_eq(part, STR("..")))
			return false;
	}
	return true;
}

static int file_check(const struct call_file *file, size_t i, struct fault *ret_fault)
{
	AUTO_BUF struct buf decoded = BUF_INIT(CALL_FILES_BYTES_MAX);
	char field[48];

	if (!path_is_valid(file->path)) {
		(void)str_format(field, sizeof(field), "files[%zu].path", i);
		fault_set_field(ret_fault, field,
			"a path is relative, without empty, . and .. parts, at most %d bytes",
			PATH_MAX - 1);
		return -EINVAL;
	}
	if (file->is_base64 && base64_decode(file->content, &decoded) < 0) {
		(void)str_format(field, sizeof(field), "files[%zu].base64", i);
		fault_set_field(ret_fault, field, "is no base64 of RFC 4648 with padding");
		return -EINVAL;
	}
	return 0;
}

/* Bytes of the file; right for what is base64. */
static size_t content_size(const struct call_file *file)
{
	struct str content = file->content;
	size_t n = content.n / 4 * 3;

	if (!file->is_base64)
		return content.n;
	if (n > 0 && str_ends(content, STR("==")))
		return n - 2;
	return n > 0 && str_ends(content, STR("=")) ? n - 1 : n;
}

static int files_check(const struct call_request *request, struct fault *ret_fault)
{
	uint64_t bytes = 0;

	if (request->n_files > CALL_FILES_MAX) {
		fault_set_field(ret_fault, "files", "at most %d files", CALL_FILES_MAX);
		return -EINVAL;
	}
	for (size_t i = 0; i < request->n_files; i++)
		bytes += content_size(&request->files[i]);
	if (bytes > CALL_FILES_BYTES_MAX)
		return too_large(ret_fault, "the inline files together", CALL_FILES_BYTES_MAX);
	for (size_t i = 0; i < request->n_files; i++) {
		int r = file_check(&request->files[i], i, ret_fault);

		if (r < 0)
			return r;
	}
	return 0;
}

int check_request(const struct call_request *request, struct fault *ret_fault)
{
	int r = visit_check_names(request->tenant, request->key, ret_fault);

	if (r == 0)
		r = words_check(request, ret_fault);
	if (r < 0)
		return r;
	if (request->code.n > PACKAGE_CODE_MAX)
		return too_large(ret_fault, "the code", PACKAGE_CODE_MAX);
	if (request->stdin_bytes.n > RUN_STDIN_MAX)
		return too_large(ret_fault, "stdin", RUN_STDIN_MAX);
	r = args_check(request, ret_fault);
	if (r == 0)
		r = env_check(request, ret_fault);
	return r < 0 ? r : files_check(request, ret_fault);
}
