#include "jail/outside/caps.h"

#include <errno.h>
#include <linux/securebits.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>

/* Through libcap, which knows every capability by number; one place that sets them all. */

static int sets_apply(uint64_t set)
{
	cap_t caps = cap_init();
	int r = 0;

	if (!caps)
		return -ENOMEM;
	for (int cap = 0; cap < 64 && r == 0; cap++) {
		cap_value_t value = cap;

		if (!(set & (1ULL << cap)))
			continue;
		if (cap_set_flag(caps, CAP_PERMITTED, 1, &value, CAP_SET) < 0 ||
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
	return sets_apply(set);
}

int caps_drop_all(void)
{
	if (prctl(PR_SET_SECUREBITS,
		    SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
			    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
			    SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
		    0, 0, 0) < 0)
		return -errno;
	return caps_reduce(0);
}
