#include "jail/plan/syscalls.h"

#include "base/macro.h"

#include <errno.h>

/* The data lies in profiles/, where it is reviewed; here it only becomes an array. */

#define ALWAYS                                                                                     \
	{                                                                                          \
		SYSCALL_ALWAYS, 0, 0, 0                                                            \
	}
#define WHEN(argument, op, mask, value)                                                            \
	{                                                                                          \
		SYSCALL_##op, argument, mask, value                                                \
	}

static const struct denied_syscall denied[] = {
#define DENY(name, reason)	  { #name, "EPERM", EPERM, { ALWAYS, ALWAYS }, reason },
#define DENY_ENOSYS(name, reason) { #name, "ENOSYS", ENOSYS, { ALWAYS, ALWAYS }, reason },
#define IGNORE(name, reason)	  { #name, "0", 0, { ALWAYS, ALWAYS }, reason },
#define DENY_IF(name, condition, answer, reason)                                                   \
	{ #name, #answer, answer, { condition, ALWAYS }, reason },
#define DENY_IF_BOTH(name, first, second, answer, reason)                                          \
	{ #name, #answer, answer, { first, second }, reason },
#define IGNORE_IF(name, condition, reason)	    { #name, "0", 0, { condition, ALWAYS }, reason },
#define IGNORE_IF_BOTH(name, first, second, reason) { #name, "0", 0, { first, second }, reason },
#include "profiles/syscalls.def"
};

static const struct socket_family families[] = {
#define FAMILY(number, name, types, protocols, reason) { #name, number, types, protocols, reason },
#include "profiles/socket_families.def"
};

const struct denied_syscall *denied_syscalls_get(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(denied);
	return denied;
}

const struct socket_family *socket_families_get(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(families);
	return families;
}
