#include "jail/zygote/zygote_filter.h"

#include "base/fd.h"
#include "jail/plan/syscalls.h"

#include <errno.h>
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Through libseccomp, as jaild's own: there is nothing to say that it could not. */

static bool is_for_zygotes(const char *name)
{
	/* into a cell, by birth into its group */
	return strcmp(name, "setns") == 0 || strcmp(name, "clone3") == 0;
}

static int zygote_rules_add(scmp_filter_ctx context)
{
	size_t n;
	const struct denied_syscall *denied = denied_syscalls_get(&n);
	/* not a kill: the filter of the scripts forked from it decides that (filter_install_own) */
	int r = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));

	if (r == 0)
		r = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; i < n && r == 0; i++) {
		int number = seccomp_syscall_resolve_name(denied[i].name);

		if (number >= 0 && denied[i].conditions[0].op == SYSCALL_ALWAYS &&
			!is_for_zygotes(denied[i].name))
			r = seccomp_rule_add_exact(
				context, SCMP_ACT_ERRNO((uint32_t)denied[i].error), number, 0);
	}
	return r;
}

int zygote_filter_make(int *ret_fd, uint32_t *ret_count)
{
	static struct sock_filter program[BPF_MAXINSNS];
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	AUTO_CLOSE int fd = memfd_create("bpf", MFD_CLOEXEC);
	ssize_t n;
	int r;

	if (!context || fd < 0)
		return -ENOMEM;
	r = zygote_rules_add(context);
	if (r == 0)
		r = seccomp_export_bpf(context, fd);
	seccomp_release(context);
	n = r == 0 ? pread(fd, program, sizeof(program), 0) : r;
	if (n <= 0 || (size_t)n == sizeof(program))
		return n < 0 ? (int)n : -E2BIG;
	r = fd_memfd_sealed("filter", program, (size_t)n, ret_fd);
	if (r == 0)
		*ret_count = (uint32_t)((size_t)n / sizeof(program[0]));
	return r;
}
