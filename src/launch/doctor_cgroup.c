#include "launch/doctor.h"

#include "base/fd.h"
#include "launch/delegate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The same functions that the launcher uses, one after the other; what they make is removed. */

static struct cgroup_host host;

void doctor_cgroup_trees(const struct options *options, struct finding *ret)
{
	(void)options;
	cgroup_find(&host);
	ret->is_ok = host.backend != WIRE_CGROUP_NONE;
	if (ret->is_ok)
		finding_explain(ret, "", "cgroup %s",
			host.backend == WIRE_CGROUP_V2 ? "v2" : "v1 (v2 is the better one)");
	else if (host.unified[0])
		finding_explain(ret,
			"systemd-run --user --scope -p Delegate=yes; for the cpu controller: "
			"Delegate=cpu cpuset io memory pids in user@.service.d/delegate.conf",
			"%s", host.text);
	else
		finding_explain(ret, "mount -t cgroup2 none /sys/fs/cgroup", "%s", host.text);
}

void doctor_cgroup_delegation(const struct options *options, struct finding *ret)
{
	struct delegation delegation = delegation_none(&host);
	struct cgroup_root root = { host.backend, -1, -1, -1, -1 };
	struct delegate_owner owner = { geteuid(), getegid() };
	int r = -ENOENT;

	(void)options;
	if (host.backend != WIRE_CGROUP_NONE)
		r = delegate_make(&host, &owner, &delegation, &root);
	ret->is_ok = r == 0;
	delegate_root_close(&root);
	delegate_remove(&delegation);
	delegate_unlock(&delegation);
	if (r == -ENOENT && host.backend == WIRE_CGROUP_NONE)
		finding_explain(ret, "see cgroup-trees", "no tree to work in");
	else if (r == -EBUSY)
		finding_explain(ret, "systemd-run --scope -p Delegate=yes cloche ...",
			"other processes live in our cgroup");
	else if (r < 0)
		finding_explain(ret,
			geteuid() == 0 ? "systemd-run --scope -p Delegate=yes cloche ..."
				       : "systemd-run --user --scope -p Delegate=yes cloche ...",
			"our cgroup does not let us make groups: %s", strerror(-r));
}

void doctor_cgroup_kill(const struct options *options, struct finding *ret)
{
	char path[PATH_MAX + 32];
	struct stat status;

	(void)options;
	/* the root group of the tree has no such file; then the kernel's version decides */
	(void)snprintf(path, sizeof(path), "%s/cgroup.kill", host.unified);
	ret->is_ok = host.unified[0] && (stat(path, &status) == 0 || errno == ENOENT);
	if (!ret->is_ok)
		finding_explain(ret, "mkdir /sys/fs/cgroup/unified; mount -t cgroup2 none there",
			"no v2 tree, which can end all processes of a cell at once");
}
