#include "launch/doctor.h"

#include "base/fd.h"
#include "base/str.h"
#include "jail/outside/procfs.h"
#include "launch/id_range.h"
#include "launch/outer.h"
#include "wire/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The namespaces are really made, nested as a cell's are: asking sysctls what they would allow
 * misses AppArmor, containers and old Debian kernels. The sysctls only explain a failure.
 */

void doctor_ids(const struct options *options, struct finding *ret)
{
	struct id_range range;
	char text[256] = "";
	int r = id_range_find(&range, text, sizeof(text));

	/* "CAUSE: REMEDY" where a remedy is known. */
	char *colon = strstr(text, ": ");

	ret->is_ok = r == 0;
	if (ret->is_ok) {
		finding_explain(ret, "", "%u ids from %u", range.count, range.first_uid);
		return;
	}
	if (colon)
		*colon = '\0';
	finding_explain(ret, colon ? colon + 2 : "see cloche-doctor(1)", "%s",
		text[0] ? text : strerror(-r));
}

void doctor_id_helpers(const struct options *options, struct finding *ret)
{
	static const char *const helpers[] = { "/usr/bin/newuidmap", "/usr/bin/newgidmap" };
	struct stat status;

	(void)options;
	ret->is_ok = true;
	for (size_t i = 0; i < 2 && geteuid() != 0; i++) {
		if (stat(helpers[i], &status) == 0)
			continue;
		ret->is_ok = false;
		finding_explain(ret, "apt-get install uidmap", "%s is missing", helpers[i]);
		return;
	}
}

/* A sysctl's number, or -1 where it does not exist. */
static int64_t sysctl_read(const char *path)
{
	char text[32];
	uint64_t number;
	ssize_t n = fd_read_file(AT_FDCWD, path, text, sizeof(text));

	if (n < 0 || str_to_u64(str_trim(str_from(text)), INT64_MAX, &number) < 0)
		return -1;
	return (int64_t)number;
}

static void refusal_explain(struct finding *ret, int error)
{
	if (sysctl_read("/proc/sys/user/max_user_namespaces") == 0)
		finding_explain(ret, "sysctl user.max_user_namespaces=15000",
			"user.max_user_namespaces is 0");
	else if (sysctl_read("/proc/sys/kernel/unprivileged_userns_clone") == 0)
		finding_explain(ret, "sysctl kernel.unprivileged_userns_clone=1",
			"kernel.unprivileged_userns_clone is 0");
	else if (sysctl_read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
		finding_explain(ret,
			"load an AppArmor profile with `userns,` for cloche-jaild, or sysctl "
			"kernel.apparmor_restrict_unprivileged_userns=0",
			"AppArmor restricts user namespaces");
	else if (error == EPERM)
		finding_explain(ret,
			"do not start from a chroot; in a container allow user namespaces "
			"(docker: --security-opt seccomp=... apparmor=unconfined)",
			"clone of a user namespace: Operation not permitted");
	else
		finding_explain(ret, "see cloche-doctor(1)", "clone of a user namespace: %s",
			strerror(error));
}

static int clone_wait(unsigned long flags, int (*run)(void))
{
	int status;
	long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(run());
	if (pid < 0)
		return errno;
	if (waitpid((pid_t)pid, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

static int nothing_run(void)
{
	return 0;
}

/* Ours, before the clone: in the new namespace they are not mapped yet. */
static uid_t outer_uid;
static gid_t outer_gid;

/* A process may map its own ids alone; the creator of a nested namespace has to be mapped. */
static int own_ids_map(void)
{
	char map[48];
	int r;

	r = fd_write_file(AT_FDCWD, "/proc/self/setgroups", "deny");
	if (r < 0)
		return r;
	(void)str_format(map, sizeof(map), "0 %u 1", outer_uid);
	r = fd_write_file(AT_FDCWD, "/proc/self/uid_map", map);
	if (r < 0)
		return r;
	(void)str_format(map, sizeof(map), "0 %u 1", outer_gid);
	return fd_write_file(AT_FDCWD, "/proc/self/gid_map", map);
}

static int nested_run(void)
{
	int r = own_ids_map();

	return r < 0 ? -r : clone_wait(CLONE_NEWUSER, nothing_run);
}

void doctor_user_namespaces(const struct options *options, struct finding *ret)
{
	int error;

	(void)options;
	outer_uid = geteuid();
	outer_gid = getegid();
	error = clone_wait(CLONE_NEWUSER, nested_run);
	ret->is_ok = error == 0;
	if (error != 0)
		refusal_explain(ret, error);
}

static const struct {
	const char *name;
	unsigned long flag;
} kinds[] = { { "mount", CLONE_NEWNS }, { "pid", CLONE_NEWPID }, { "net", CLONE_NEWNET },
	{ "ipc", CLONE_NEWIPC }, { "uts", CLONE_NEWUTS }, { "cgroup", CLONE_NEWCGROUP } };

void doctor_namespaces(const struct options *options, struct finding *ret)
{
	(void)options;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int error = clone_wait(CLONE_NEWUSER | kinds[i].flag, nothing_run);

		if (error == 0)
			continue;
		finding_explain(ret, "raise user.max_*_namespaces, or see user-namespaces above",
			"a %s namespace cannot be made: %s", kinds[i].name, strerror(error));
		return;
	}
	ret->is_ok = true;
}

static int proc_run(void)
{
	AUTO_CLOSE int fd = -1;
	int r = procfs_make_own(&fd);

	return r < 0 ? -r : 0;
}

static int proc_pid_run(void)
{
	return clone_wait(CLONE_NEWNS | CLONE_NEWPID, proc_run);
}

void doctor_proc(const struct options *options, struct finding *ret)
{
	int error = clone_wait(CLONE_NEWUSER, proc_pid_run);

	(void)options;
	ret->is_ok = error == 0;
	if (error != 0)
		finding_explain(ret,
			"in a container: unmask /proc (docker: --security-opt "
			"systempaths=unconfined)",
			"procfs cannot be mounted in a new namespace: %s", strerror(error));
}
