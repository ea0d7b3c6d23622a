#include "jail/inside/resources.h"

#include "base/macro.h"

#include <errno.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/resource.h>

/*
 * Memory, processes and CPU are the cgroup's; these limits are for what no cgroup counts. CORE is
 * 1, not 0: with 0 a core handler behind a pipe would still be started, on the host, as root
 * (core(5)).
 */

#define CORE_BYTES 1

static int limit_set(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit limit = { .rlim_cur = value, .rlim_max = value };
	struct rlimit now;

	if (setrlimit(resource, &limit) == 0)
		return 0;
	/* what we were started with may be less, and nobody here may raise it */
	if (errno != EPERM || getrlimit(resource, &now) < 0)
		return -errno;
	if (limit.rlim_max > now.rlim_max)
		limit.rlim_cur = limit.rlim_max = now.rlim_max;
	return setrlimit(resource, &limit) < 0 ? -errno : 0;
}

int resources_limit(const struct wire_limits *limits)
{
	const struct {
		__rlimit_resource_t resource;
		rlim_t value;
	} table[] = {
		{ RLIMIT_FSIZE, limits->file_bytes },
		{ RLIMIT_CORE, CORE_BYTES },
		{ RLIMIT_NOFILE, limits->open_files },
		{ RLIMIT_STACK, limits->stack_bytes },
		{ RLIMIT_MSGQUEUE, 0 },
		{ RLIMIT_MEMLOCK, 1024 * 1024 },
		{ RLIMIT_SIGPENDING, 256 },
		{ RLIMIT_NICE, 0 },
		{ RLIMIT_RTPRIO, 0 },
		{ RLIMIT_RTTIME, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		int r = limit_set(table[i].resource, table[i].value);

		if (r < 0)
			return r;
	}
	return 0;
}

int resources_limit_core(void)
{
	return limit_set(RLIMIT_CORE, CORE_BYTES);
}

int resources_reset(void)
{
	struct sched_param normal = { 0 };

	/* setting what is set takes the run queue's lock and more, in each cell */
	if (sched_getscheduler(0) != SCHED_OTHER && sched_setscheduler(0, SCHED_OTHER, &normal) < 0)
		return -errno;
	return personality(0) < 0 ? -errno : 0;
}

int resources_pin(uint64_t cpus)
{
	cpu_set_t set;

	if (cpus == 0)
		return 0;
	CPU_ZERO(&set);
	for (unsigned i = 0; i < 64; i++) {
		if (cpus & (1ULL << i))
			CPU_SET(i, &set);
	}
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}
