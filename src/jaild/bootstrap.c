#include "jaild/bootstrap.h"

#include "base/macro.h"
#include "jail/outside/template.h"

/* Copied into the program at build time (tools/embed), so that they are of the same build and
 * cannot be missing. */

static const unsigned char extension[] = {
#include "zygote/extension.inc"
};

static const struct template_file embedded[] = {
#include "jaild/bootstrap.inc"
	{ "cloche_zygote.abi3.so", extension, sizeof(extension) },
};

const struct template_file *bootstrap_files(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(embedded);
	return embedded;
}
