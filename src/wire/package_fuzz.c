/*
 * Any bytes as a package: what is read lies inside of them, its variables are allowed ones, and
 * writing it again gives the same bytes.
 */
#include "wire/package.h"

#include "base/assert.h"
#include "base/buf.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void string_is_inside(const char *string, const uint8_t *data, const char *code)
{
	assert(string >= (const char *)data && string < code);
	assert(memchr(string, '\0', (size_t)(code - string)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf out = BUF_INIT(PACKAGE_SIZE_MAX);
	static struct package package;
	int r;

	if (package_parse(data, size, &package) < 0)
		return 0;
	assert(package.language < PACKAGE_LANGUAGE_MAX);
	assert(package.n_args <= PACKAGE_ARGS_MAX && !package.args[package.n_args]);
	assert(package.n_env <= PACKAGE_ENV_MAX && !package.env[package.n_env]);
	assert(package.code + package.code_size == (const char *)data + size);
	for (unsigned i = 0; i < package.n_args; i++)
		string_is_inside(package.args[i], data, package.code);
	for (unsigned i = 0; i < package.n_env; i++) {
		string_is_inside(package.env[i], data, package.code);
		assert(package_env_is_allowed(package.env[i]));
	}
	/* The writer also limits arguments and variables each for themselves. */
	r = package_format(&package, &out);
	assert(r == 0 || r == -E2BIG);
	assert(r < 0 || (out.len == size && memcmp(out.data, data, size) == 0));
	return 0;
}
