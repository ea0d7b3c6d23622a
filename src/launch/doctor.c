#include "launch/doctor.h"

#include "base/macro.h"

#include <stdarg.h>
#include <stdio.h>

/*
 * From the kernel up: when a low check fails, the ones above it fail too, and the person reads the
 * first line first.
 */

static const struct {
	const char *name;
	void (*check)(const struct options *options, struct finding *ret);
} checks[] = {
	{ "kernel", doctor_kernel },
	{ "system-calls", doctor_calls },
	{ "landlock", doctor_landlock },
	{ "seccomp", doctor_seccomp },
	{ "memfd", doctor_memfd },
	{ "subordinate-ids", doctor_ids },
	{ "id-helpers", doctor_id_helpers },
	{ "user-namespaces", doctor_user_namespaces },
	{ "namespaces", doctor_namespaces },
	{ "proc", doctor_proc },
	{ "cgroup-trees", doctor_cgroup_trees },
	{ "cgroup-delegation", doctor_cgroup_delegation },
	{ "cgroup-kill", doctor_cgroup_kill },
	{ "start", doctor_start },
};

void finding_explain(struct finding *finding, const char *remedy, const char *cause_format, ...)
{
	va_list arguments;

	va_start(arguments, cause_format);
	(void)vsnprintf(finding->cause, sizeof(finding->cause), cause_format, arguments);
	va_end(arguments);
	(void)snprintf(finding->remedy, sizeof(finding->remedy), "%s", remedy);
}

int doctor_run(const struct options *options)
{
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		struct finding finding = { 0 };

		checks[i].check(options, &finding);
		(void)printf("%s\t%s\t%s\t%s\n", checks[i].name, finding.is_ok ? "ok" : "fail",
			finding.cause, finding.remedy);
		(void)fflush(stdout);
		if (!finding.is_ok)
			status = 1;
	}
	return status;
}
