#include "client/run_body.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "client/run.h"
#include "json/json.h"

#include <errno.h>
#include <string.h>

/* JSON holds text only: json_set_text would repair what is none, and no supervisor takes a NUL. */
static bool is_text(struct str bytes)
{
	return bytes.n == 0 || (!memchr(bytes.p, '\0', bytes.n) && utf8_is_valid(bytes.p, bytes.n));
}

/* A file's content as text where it is text: that travels in fewer bytes. */
static int file_set(struct json *file, const struct sandbox_inline_file *from)
{
	AUTO_BUF struct buf encoded = BUF_INIT(BASE64_SIZE(from->content.n));
	int r = 0;

	json_set_cstr(file, "path", from->path);
	if (is_text(from->content)) {
		json_set_text(file, "text", from->content);
		return 0;
	}
	r = base64_encode(from->content, &encoded);
	json_set_text(file, "base64", buf_get_slice(&encoded));
	return r;
}

static int env_set(struct json *object, const struct sandbox_run_request *request)
{
	struct json *env = json_set_object(object, "env");

	for (size_t i = 0; i < request->n_env; i++) {
		AUTO_FREE char *name = xstrdup(request->env[i]);
		char *equals = strchr(name, '=');

		if (!equals)
			return -EINVAL;
		*equals = '\0';
		json_set_cstr(env, name, equals + 1);
	}
	return 0;
}

static int text_check(const struct sandbox_run_request *request, const char **ret_what)
{
	*ret_what = "the script";
	if (!is_text(request->code))
		return -EILSEQ;
	*ret_what = "the script's input";
	if (!is_text(request->stdin_text))
		return -EILSEQ;
	*ret_what = "an argument";
	for (size_t i = 0; i < request->n_args; i++)
		if (!is_text(str_from(request->args[i])))
			return -EILSEQ;
	*ret_what = "a variable";
	for (size_t i = 0; i < request->n_env; i++)
		if (!is_text(str_from(request->env[i])))
			return -EILSEQ;
	*ret_what = "a file's path";
	for (size_t i = 0; i < request->n_files; i++)
		if (!is_text(str_from(request->files[i].path)))
			return -EILSEQ;
	return 0;
}

int run_body_write(
	const struct sandbox_run_request *request, struct buf *out, const char **ret_what)
{
	AUTO_JSON struct json *object = json_object_new();
	struct json *args, *files;
	int r = text_check(request, ret_what);

	json_set_cstr(object, "language", request->language);
	json_set_text(object, "code", request->code);
	if (request->run_id)
		json_set_cstr(object, "run_id", request->run_id);
	if (request->profile)
		json_set_cstr(object, "profile", request->profile);
	if (request->policy)
		json_set_cstr(object, "policy", request->policy);
	if (request->is_live)
		json_set_cstr(object, "state", "live");
	if (request->is_reset)
		json_set_bool(object, "reset", true);
	if (request->timeout_ms)
		json_set_count(object, "timeout_ms", request->timeout_ms);
	if (request->stdin_text.p)
		json_set_text(object, "stdin", request->stdin_text);
	args = json_set_array(object, "args");
	for (size_t i = 0; i < request->n_args; i++)
		json_add_text(args, str_from(request->args[i]));
	if (r == 0)
		r = env_set(object, request);
	files = json_set_array(object, "files");
	for (size_t i = 0; i < request->n_files && r == 0; i++)
		r = file_set(json_add_object(files), &request->files[i]);
	return r < 0 ? r : json_write(object, out);
}
