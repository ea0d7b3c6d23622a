/*
 * Theory of operation: one row for each field, with the function that takes it. A field that is
 * null is as one that is not there. A field that has no row is refused: a misspelled "timeout" that
 * is silently ignored costs somebody an evening.
 *
 * Text lies in the JSON tree, which lives as long as the form.
 */
#include "call/run_form.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/macro.h"
#include "base/utf8.h"
#include "sandbox/language.h"
#include "json/json.h"
#include "json/parse.h"

#include <errno.h>

typedef int field_take(struct run_form *form, const struct json *value, struct fault *ret_fault);

static int refuse(struct fault *ret_fault, const char *field, const char *kind)
{
	fault_set_field(ret_fault, field, "must be %s", kind);
	return -EINVAL;
}

static int refuse_missing(struct fault *ret_fault, const char *field)
{
	int r = refuse(ret_fault, field, "there");

	fault_advise(ret_fault, "Add the field %s.", field);
	return r;
}

static int take_language(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	struct str name;

	if (json_as_text(value, &name) < 0 || language_parse(name, &form->call.language) < 0)
		return refuse(ret_fault, "language", "\"python\" or \"bash\"");
	return 0;
}

static int take_code(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	if (json_as_text(value, &form->call.code) < 0)
		return refuse(ret_fault, "code", "text");
	return 0;
}

static int take_stdin(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	if (json_as_text(value, &form->call.stdin_bytes) < 0)
		return refuse(ret_fault, "stdin", "text");
	return 0;
}

static int word_take(
	char *word, const char *field, const struct json *value, struct fault *ret_fault)
{
	struct str text;

	if (json_as_text(value, &text) < 0)
		return refuse(ret_fault, field, "text");
	if (str_format(word, RUN_FORM_WORD_SIZE, "%.*s", STR_ARG(text)) < 0)
		return refuse(ret_fault, field, "shorter");
	return 0;
}

static int take_run_id(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	form->call.run_id = form->run_id;
	return word_take(form->run_id, "run_id", value, ret_fault);
}

static int take_policy(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	form->call.policy = form->policy;
	return word_take(form->policy, "policy", value, ret_fault);
}

static int take_state(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	form->call.state = form->state;
	return word_take(form->state, "state", value, ret_fault);
}

static int take_reset(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	if (json_as_bool(value, &form->call.is_reset) < 0)
		return refuse(ret_fault, "reset", "true or false");
	return 0;
}

static int take_profile(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	form->call.profile = form->profile;
	return word_take(form->profile, "profile", value, ret_fault);
}

static int take_timeout(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	int64_t ms;

	if (json_as_integer(value, &ms) < 0 || ms < 1)
		return refuse(ret_fault, "timeout_ms", "a whole number above 0");
	form->call.timeout_ms = (uint64_t)ms;
	return 0;
}

static int take_args(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	size_t n = json_size(value);

	if (json_kind_get(value) != JSON_KIND_ARRAY || n > PACKAGE_ARGS_MAX) {
		fault_set_field(
			ret_fault, "args", "must be a list of at most %d texts", PACKAGE_ARGS_MAX);
		return -EINVAL;
	}
	for (size_t i = 0; i < n; i++)
		if (json_as_text(json_at(value, i), &form->args[i]) < 0)
			return refuse(ret_fault, "args", "a list of texts");
	form->call.args = form->args;
	form->call.n_args = n;
	return 0;
}

static int take_env(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	size_t n = json_size(value);

	if (json_kind_get(value) != JSON_KIND_OBJECT || n > PACKAGE_ENV_MAX) {
		fault_set_field(ret_fault, "env",
			"must be an object of at most %d names with texts", PACKAGE_ENV_MAX);
		return -EINVAL;
	}
	for (size_t i = 0; i < n; i++) {
		struct str name, text;

		if (json_as_text(json_member(value, i, &name), &text) < 0)
			return refuse(ret_fault, "env", "an object of names with texts");
		if (name.n == 0 || memchr(name.p, '=', name.n))
			return refuse(ret_fault, "env", "an object whose names have no '='");
		form->env_texts[i] = xasprintf("%.*s=%.*s", STR_ARG(name), STR_ARG(text));
		form->env[i] = str_from(form->env_texts[i]);
	}
	form->call.env = form->env;
	form->call.n_env = n;
	return 0;
}

/* {"path": P, "text": T} or {"path": P, "base64": B}. */
static int file_take(
	struct call_file *file, const struct json *value, size_t i, struct fault *ret_fault)
{
	bool has_text = json_as_text(json_get(value, "text"), &file->content) == 0;
	bool has_base64 = !has_text && json_as_text(json_get(value, "base64"), &file->content) == 0;
	char field[32];

	file->is_base64 = has_base64;
	if (json_as_text(json_get(value, "path"), &file->path) == 0 && json_size(value) == 2 &&
		(has_text || has_base64))
		return 0;
	(void)str_format(field, sizeof(field), "files[%zu]", i);
	return refuse(ret_fault, field, "an object of path, and text or base64");
}

static int take_files(struct run_form *form, const struct json *value, struct fault *ret_fault)
{
	size_t n = json_size(value);
	int r = 0;

	if (json_kind_get(value) != JSON_KIND_ARRAY || n > CALL_FILES_MAX) {
		fault_set_field(
			ret_fault, "files", "must be a list of at most %d files", CALL_FILES_MAX);
		return -EINVAL;
	}
	form->files = xcalloc(n + 1, sizeof(*form->files));
	for (size_t i = 0; r == 0 && i < n; i++)
		r = file_take(&form->files[i], json_at(value, i), i, ret_fault);
	form->call.files = form->files;
	form->call.n_files = n;
	return r;
}

static const struct {
	struct str name;
	bool is_required;
	field_take *take;
} rows[] = {
	{ STR("language"), true, take_language },
	{ STR("code"), true, take_code },
	{ STR("files"), false, take_files },
	{ STR("stdin"), false, take_stdin },
	{ STR("args"), false, take_args },
	{ STR("env"), false, take_env },
	{ STR("timeout_ms"), false, take_timeout },
	{ STR("state"), false, take_state },
	{ STR("reset"), false, take_reset },
	{ STR("policy"), false, take_policy },
	{ STR("profile"), false, take_profile },
	{ STR("run_id"), false, take_run_id },
};

/* Refuses the first member that has no row. */
static int names_check(const struct json *object, struct fault *ret_fault)
{
	for (size_t i = 0; i < json_size(object); i++) {
		AUTO_BUF struct buf known = BUF_INIT(sizeof(ret_fault->text));
		struct str name = STR("");
		char field[48];
		bool is_known = false;

		(void)json_member(object, i, &name);
		for (size_t k = 0; k < ARRAY_SIZE(rows) && !is_known; k++)
			is_known = str_eq(rows[k].name, name);
		if (is_known)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
			(void)buf_addf(&known, "%s%s", k > 0 ? ", " : "", rows[k].name.p);
		name.n = MIN(name.n, sizeof(field) - 1);
		name.n -= utf8_unfinished(name.p, name.n);
		(void)str_format(field, sizeof(field), "%.*s", STR_ARG(name));
		fault_set_field(ret_fault, field, "there is no such field; there are: %s",
			buf_get_cstr(&known));
		fault_advise(ret_fault, "Mend the field's name, or leave %s out.", field);
		return -EINVAL;
	}
	return 0;
}

static int fields_take(struct run_form *form, struct fault *ret_fault)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct json *value = json_get(form->json, rows[i].name.p);
		int r = 0;

		if (json_kind_get(value) != JSON_KIND_NULL)
			r = rows[i].take(form, value, ret_fault);
		else if (rows[i].is_required)
			r = refuse_missing(ret_fault, rows[i].name.p);
		if (r < 0)
			return r;
	}
	return 0;
}

int run_form_parse(struct str body, struct run_form *ret_form, struct fault *ret_fault)
{
	struct run_form *form = ret_form;
	int r;

	*form = (struct run_form){ .call.client_fd = -1 };
	r = json_parse(body, &form->json, ret_fault);
	if (r < 0)
		return r;
	if (json_kind_get(form->json) != JSON_KIND_OBJECT) {
		fault_set(ret_fault, FAULT_BAD_REQUEST, "the body must be a JSON object");
		return -EBADMSG;
	}
	r = names_check(form->json, ret_fault);
	return r < 0 ? r : fields_take(form, ret_fault);
}

void run_form_fini(struct run_form *form)
{
	for (size_t i = 0; i < PACKAGE_ENV_MAX; i++)
		free(form->env_texts[i]);
	free(form->files);
	json_free(form->json);
	memset(form, 0, sizeof(*form));
}
