#include "jail/inside/identity.h"

#include "base/macro.h"
#include "jail/plan/plan.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* All bits of securebits(7) with their locks: an exec or a change of ids never gives capabilities
 * again. */
#define SECUREBITS_ALL                                                                             \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                           \
		SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |                          \
		SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* What init builds a cell with, all below 32: ids, the bounding set, mounts and host name,
 * the limits of namespaces, entering the home. */
static const unsigned init_capabilities[] = { CAP_SETUID, CAP_SETGID, CAP_SETPCAP, CAP_SYS_ADMIN,
	CAP_SYS_RESOURCE, CAP_DAC_OVERRIDE };

int identity_limit_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(init_capabilities); i++)
		sets[0].permitted |= 1u << init_capabilities[i];
	sets[0].effective = sets[0].permitted;
	return syscall(SYS_capset, &head, sets) < 0 ? -errno : 0;
}

static int ids_set(unsigned id)
{
	if (syscall(SYS_setresgid, id, id, id) < 0)
		return -errno;
	if (syscall(SYS_setresuid, id, id, id) < 0)
		return -errno;
	return 0;
}

int identity_become_root(void)
{
	return ids_set(CELL_INIT_ID);
}

int identity_empty_bounding(void)
{
	unsigned long cap = 0;

	/* The kernel says EINVAL behind the last capability that it knows. */
	while (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
		cap++;
	if (cap == 0 || errno != EINVAL)
		return -errno;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -errno;
	if (prctl(PR_SET_SECUREBITS, SECUREBITS_ALL, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

int identity_hide(void)
{
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}

int identity_become_script(void)
{
	return ids_set(CELL_SCRIPT_ID);
}

int identity_drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capset, &head, none) < 0)
		return -errno;
	return 0;
}
