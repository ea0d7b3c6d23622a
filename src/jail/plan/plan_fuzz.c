/*
 * Any bytes as a plan, the first byte being the number of descriptors that came with it. A plan
 * that passes is one that init can follow: within all limits, with a filter that fits.
 */
#include "jail/plan/plan.h"

#include "base/assert.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct jail_plan plan;
	const char *name;

	if (size < 1 || size - 1 > sizeof(plan))
		return 0;
	memcpy(&plan, data + 1, size - 1);
	if (plan_check(&plan, size - 1, data[0]) < 0)
		return 0;
	assert(size - 1 == sizeof(plan) && plan.landlock_abi > 0);
	assert(plan.filter_count > 0 && plan.filter_count <= 4096);
	assert(wire_limits_check(&plan.limits, &name) == 0);
	assert(data[0] == (plan.limits.own_proc ? 4 : 3));
	return 0;
}
