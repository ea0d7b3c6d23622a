#include "jail/plan/plan.h"

#include <errno.h>

/* Whatever is wrong here is our own fault; init must not go on with it. */

/* Fewer instructions cannot even check the architecture and the number. */
#define FILTER_MIN 4
/* Landlock had 7 after five years. */
#define LANDLOCK_ABI_MAX 1000

int plan_check(const struct jail_plan *plan, uint64_t size, uint64_t n_fds)
{
	const char *name;

	if (size != sizeof(*plan) || plan->magic != PLAN_MAGIC || plan->version != PLAN_VERSION)
		return -EBADMSG;
	if (plan->is_quiet > 1 || plan->landlock_abi < 1 || plan->landlock_abi > LANDLOCK_ABI_MAX)
		return -EBADMSG;
	if (plan->filter_count < FILTER_MIN || plan->filter_count > PLAN_FILTER_MAX)
		return -EBADMSG;
	if (wire_limits_check(&plan->limits, &name) < 0)
		return -EBADMSG;
	return n_fds == (plan->limits.own_proc ? PLAN_FDS_MAX : PLAN_FD_PROC) ? 0 : -EBADMSG;
}
