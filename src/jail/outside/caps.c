#include "jail/outside/caps.h"

#include <errno.h>
#include <grp.h>
#include <linux/securebits.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Through libcap, which knows every capability by number; one place that sets them all. */

static int sets_apply(uint64_t permitted, uint64_t effective)
{
	cap_t caps = cap_init();
	int r = 0;

	if (!caps)
		return -ENOMEM;
	for (int cap = 0; cap < 64 && r == 0; cap++) {
		cap_value_t value = cap;

		if ((permitted & (1ULL << cap)) &&
			cap_set_flag(caps, CAP_PERMITTED, 1, &value, CAP_SET) < 0)
			r = -errno;
		if ((effective & (1ULL << cap)) &&
			cap_set_flag(caps, CAP_EFFECTIVE, 1, &value, CAP_SET) < 0)
			r = -errno;
	}
	if (r == 0 && cap_set_proc(caps) < 0)
		r = -errno;
	cap_free(caps);
	return r;
}

static int bounding_reduce(uint64_t set)
{
	for (cap_value_t cap = 0; cap < 64 && CAP_IS_SUPPORTED(cap); cap++) {
		if (!(set & (1ULL << cap)) && cap_drop_bound(cap) < 0)
			return -errno;
	}
	return 0;
}

int caps_reduce(uint64_t set)
{
	int r = bounding_reduce(set);

	if (r < 0)
		return r;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -errno;
	return sets_apply(set, set);
}

static int securebits_lock(void)
{
	if (prctl(PR_SET_SECUREBITS,
		    SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
			    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
			    SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
		    0, 0, 0) < 0)
		return -errno;
	return 0;
}

int caps_drop_to(unsigned uid, unsigned gid, uint64_t reserve)
{
	int r = securebits_lock();

	if (r < 0)
		return r;
	r = bounding_reduce(0);
	if (r < 0)
		return r;
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0)
		return -errno;
	if (setresuid(uid, uid, uid) < 0)
		return -errno;
	return sets_apply(reserve, 0);
}

int caps_raise(void)
{
	cap_t caps = cap_get_proc();
	int r = 0;

	if (!caps)
		return -ENOMEM;
	for (cap_value_t cap = 0; cap < 64 && CAP_IS_SUPPORTED(cap) && r == 0; cap++) {
		cap_flag_value_t is_permitted;

		if (cap_get_flag(caps, cap, CAP_PERMITTED, &is_permitted) < 0 ||
			cap_set_flag(caps, CAP_EFFECTIVE, 1, &cap, is_permitted) < 0)
			r = -errno;
	}
	if (r == 0 && cap_set_proc(caps) < 0)
		r = -errno;
	cap_free(caps);
	return r;
}

int caps_keep_only(uint64_t set)
{
	return sets_apply(set, set);
}
