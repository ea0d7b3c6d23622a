#include "launch/doctor.h"

#include "base/fd.h"
#include "base/macro.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the running kernel offers, and what a container's own filter may have taken away. */

#define KERNEL_MAJOR 5
#define KERNEL_MINOR 14

void doctor_kernel(const struct options *options, struct finding *ret)
{
	unsigned major = 0, minor = 0;
	struct utsname name;

	(void)options;
	if (uname(&name) < 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2) {
		finding_explain(ret, "report this", "uname does not tell the kernel's version");
		return;
	}
	ret->is_ok = major > KERNEL_MAJOR || (major == KERNEL_MAJOR && minor >= KERNEL_MINOR);
	finding_explain(ret, ret->is_ok ? "" : "boot Linux 5.14 or newer (Debian 12 has 6.1)",
		"Linux %s", name.release);
}

/* Called with arguments that make an existing call fail with another error than these two. */
static const struct {
	const char *name;
	long number;
	long arguments[4];
} calls[] = {
	{ "openat2", SYS_openat2, { -1, 0, 0, 0 } },
	{ "close_range", SYS_close_range, { 2, 1, 0, 0 } },
	{ "pidfd_open", SYS_pidfd_open, { -1, 0, 0, 0 } },
	{ "pidfd_send_signal", SYS_pidfd_send_signal, { -1, 0, 0, 0 } },
	{ "clone3", SYS_clone3, { 0, 0, 0, 0 } },
	{ "mount_setattr", SYS_mount_setattr, { -1, 0, 0, 0 } },
	{ "execveat", SYS_execveat, { -1, 0, 0, 0 } },
};

void doctor_calls(const struct options *options, struct finding *ret)
{
	(void)options;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const long *a = calls[i].arguments;

		errno = 0;
		(void)syscall(calls[i].number, a[0], a[1], a[2], a[3]);
		if (errno == ENOSYS || errno == EPERM) {
			finding_explain(ret,
				errno == EPERM
					? "a seccomp filter of the container forbids it: allow it "
					  "there (docker: --security-opt seccomp=...)"
					: "boot Linux 5.14 or newer",
				"%s: %s", calls[i].name, strerror(errno));
			return;
		}
	}
	ret->is_ok = true;
}

void doctor_landlock(const struct options *options, struct finding *ret)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);

	(void)options;
	ret->is_ok = abi >= 1;
	if (ret->is_ok)
		finding_explain(ret, "", "ABI %ld", abi);
	else if (errno == EOPNOTSUPP)
		finding_explain(ret, "add landlock to the kernel's lsm= list and boot again",
			"Landlock is built in but not active");
	else
		finding_explain(ret,
			"boot a kernel with CONFIG_SECURITY_LANDLOCK (Debian's have it)",
			"landlock_create_ruleset: %s", strerror(errno));
}

void doctor_seccomp(const struct options *options, struct finding *ret)
{
	(void)options;
	/* EFAULT: filters are there, and ours was not readable */
	ret->is_ok = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) < 0 && errno == EFAULT;
	if (!ret->is_ok)
		finding_explain(ret, "boot a kernel with CONFIG_SECCOMP_FILTER (Debian's have it)",
			"seccomp filters: %s", strerror(errno));
}

/* Executes a program out of a sealed memfd, as every cell's init is. */
void doctor_memfd(const struct options *options, struct finding *ret)
{
	static const char script[] = "#!/bin/true\n";
	AUTO_CLOSE int fd = -1;
	int status = 0;
	pid_t pid;

	(void)options;
	if (fd_memfd_sealed("doctor", script, sizeof(script) - 1, &fd) < 0) {
		finding_explain(
			ret, "boot Linux 5.14 or newer", "memfd_create: %s", strerror(errno));
		return;
	}
	pid = fork();
	if (pid == 0) {
		char name[] = "doctor";
		char *const argv[] = { name, NULL };
		char *const envp[] = { NULL };

		execveat(fd, "", argv, envp, AT_EMPTY_PATH);
		/* ENOENT: it was allowed, and the interpreter could not open a close-on-exec fd */
		_exit(errno == ENOENT ? 0 : 1);
	}
	ret->is_ok = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
	if (!ret->is_ok)
		finding_explain(ret, "sysctl vm.memfd_noexec=0", "a memfd may not be executed");
}
