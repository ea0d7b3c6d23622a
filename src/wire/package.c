#include "wire/package.h"

#include "base/macro.h"
#include "wire/package_form.h"

#include <errno.h>
#include <string.h>

/*
 * The reader's half: it runs as the first process of a cell, on bytes that a client wrote, and
 * trusts none of the numbers in them.
 */

/* The next NUL-ended string at *at, before end; *at moves behind it. NULL if there is none. */
static const char *string_next(const char **at, const char *end)
{
	const char *start = *at;
	const char *nul = start < end ? memchr(start, '\0', (size_t)(end - start)) : NULL;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return start;
}

static int head_check(const struct package_head *head, size_t size)
{
	if (head->magic != PACKAGE_MAGIC || head->language >= PACKAGE_LANGUAGE_MAX)
		return -EBADMSG;
	if (head->n_args > PACKAGE_ARGS_MAX || head->n_env > PACKAGE_ENV_MAX)
		return -EBADMSG;
	if (head->code_size > PACKAGE_CODE_MAX ||
		head->strings_size > PACKAGE_ARG_BYTES_MAX + PACKAGE_ENV_BYTES_MAX)
		return -EBADMSG;
	if (size != sizeof(*head) + head->strings_size + head->code_size)
		return -EBADMSG;
	if (head->language == PACKAGE_PROGRAM && head->n_args == 0)
		return -EBADMSG;
	return 0;
}

int package_parse(const void *data, size_t size, struct package *ret_package)
{
	struct package_head head;
	const char *at, *end;

	if (size < sizeof(head) || size > PACKAGE_SIZE_MAX)
		return -EBADMSG;
	memcpy(&head, data, sizeof(head));
	if (head_check(&head, size) < 0)
		return -EBADMSG;
	at = (const char *)data + sizeof(head);
	end = at + head.strings_size;
	*ret_package = (struct package){ .language = head.language,
		.code = end,
		.code_size = head.code_size,
		.n_args = head.n_args,
		.n_env = head.n_env };
	for (unsigned i = 0; i < head.n_args; i++) {
		ret_package->args[i] = string_next(&at, end);
		if (!ret_package->args[i])
			return -EBADMSG;
	}
	for (unsigned i = 0; i < head.n_env; i++) {
		ret_package->env[i] = string_next(&at, end);
		if (!ret_package->env[i] || !package_env_is_allowed(ret_package->env[i]))
			return -EBADMSG;
	}
	return at == end ? 0 : -EBADMSG;
}

static bool name_is_reserved(const char *name, size_t n)
{
	static const char *const prefixes[] = { "PYTHON", "LD_", "MALLOC_", "GLIBC_", "CLOCHE_",
		"BASH_", "SSL_CERT_" };
	static const char *const names[] = { "PATH", "HOME", "USER", "TMPDIR", "MPLBACKEND",
		"MPLCONFIGDIR", "XDG_CACHE_HOME", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
		"MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
		"VECLIB_NUM_THREADS", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "PS4", "GCONV_PATH",
		"LOCPATH", "NLSPATH", "HOSTALIASES", "RES_OPTIONS", "GETCONF_DIR", "TZDIR",
		"RESOLV_HOST_CONF", "LOCALDOMAIN", "NIS_PATH", "GMON_OUT_PREFIX" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (n >= strlen(prefixes[i]) && memcmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (n == strlen(names[i]) && memcmp(name, names[i], n) == 0)
			return true;
	}
	return false;
}

bool package_env_is_allowed(const char *variable)
{
	const char *equals = strchr(variable, '=');
	size_t n = equals ? (size_t)(equals - variable) : 0;

	if (n == 0 || (variable[0] >= '0' && variable[0] <= '9'))
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = variable[i];

		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
			    c == '_'))
			return false;
	}
	return !name_is_reserved(variable, n);
}
