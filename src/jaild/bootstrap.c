#include "jaild/bootstrap.h"

/* Copied into the program at build time (tools/embed), so that it is of the same build and cannot
 * be missing. */

static const struct {
	const char *name;
	const char *text;
	size_t size;
} embedded[] = {
#include "jaild/bootstrap.inc"
};

const char *bootstrap_get(size_t *ret_size)
{
	*ret_size = embedded[0].size;
	return embedded[0].text;
}
