#include "cli/base/environment.h"

static struct environment kept;

void environment_set(const struct environment *environment)
{
	kept = *environment;
}

const struct environment *environment_get(void)
{
	return &kept;
}
