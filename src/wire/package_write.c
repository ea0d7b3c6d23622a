#include "wire/package.h"

#include "base/buf.h"
#include "wire/package_form.h"

#include <errno.h>
#include <string.h>

/* The writer's half of wire/package.h: it allocates, so it is kept out of cloche-init. */

static int strings_add(const char *const *strings, unsigned n, size_t bytes_max, struct buf *out)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < n; i++) {
		size_t size = strlen(strings[i]) + 1;

		bytes += size;
		if (bytes > bytes_max)
			return -E2BIG;
		if (buf_add(out, strings[i], size) < 0)
			return -E2BIG;
	}
	return 0;
}

int package_format(const struct package *package, struct buf *out)
{
	struct package_head head = { .magic = PACKAGE_MAGIC,
		.language = package->language,
		.n_args = package->n_args,
		.n_env = package->n_env,
		.code_size = (uint32_t)package->code_size };
	size_t head_at = out->len;
	int r;

	if (package->n_args > PACKAGE_ARGS_MAX || package->n_env > PACKAGE_ENV_MAX ||
		package->code_size > PACKAGE_CODE_MAX)
		return -E2BIG;
	for (unsigned i = 0; i < package->n_env; i++) {
		const char *equals = strchr(package->env[i], '=');

		if (!equals || equals == package->env[i])
			return -EINVAL;
	}
	if (buf_add(out, &head, sizeof(head)) < 0)
		return -E2BIG;
	r = strings_add(package->args, package->n_args, PACKAGE_ARG_BYTES_MAX, out);
	if (r < 0)
		return r;
	r = strings_add(package->env, package->n_env, PACKAGE_ENV_BYTES_MAX, out);
	if (r < 0)
		return r;
	head.strings_size = (uint32_t)(out->len - head_at - sizeof(head));
	memcpy(out->data + head_at, &head, sizeof(head));
	return buf_add(out, package->code, package->code_size) < 0 ? -E2BIG : 0;
}
