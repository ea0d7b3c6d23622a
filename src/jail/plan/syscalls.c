#include "jail/plan/syscalls.h"

#include "base/macro.h"

#include <errno.h>

/* The data lies in profiles/, where it is reviewed; here it only becomes an array. */

static const struct denied_syscall denied[] = {
#define DENY(name, reason)	  { #name, "EPERM", EPERM, SYSCALL_ALWAYS, 0, 0, 0, reason },
#define DENY_ENOSYS(name, reason) { #name, "ENOSYS", ENOSYS, SYSCALL_ALWAYS, 0, 0, 0, reason },
#define DENY_IF(name, argument, op, mask, value, answer, reason)                                   \
	{ #name, #answer, answer, SYSCALL_##op, argument, mask, value, reason },
#include "profiles/syscalls.def"
};

static const struct socket_family families[] = {
#define FAMILY(number, name, protocols, reason) { #name, number, protocols, reason },
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
