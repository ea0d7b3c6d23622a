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

/* arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h. From 424 on all
 * architectures count alike, and each has a gap below. In that of x86-64 are two calls of newer
 * kernels about which these ask no filter (SECURITY.md, "What is not covered": uretprobe and
 * uprobe). */
static const struct syscall_range reviewed[] = {
#if defined(__x86_64__)
	{ 0, 334 },
#elif defined(__aarch64__)
	{ 0, 243 },
	{ 260, 294 },
#else
#error "the numbers of this architecture are missing"
#endif
	{ 424, SYSCALL_CEILING },
};

const struct syscall_range *syscalls_reviewed_get(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(reviewed);
	return reviewed;
}

bool syscall_is_reviewed(uint32_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(reviewed); i++) {
		if (number >= reviewed[i].first && number <= reviewed[i].last)
			return true;
	}
	return false;
}

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
