#include "jail/outside/filter.h"

#include "base/fd.h"
#include "base/macro.h"
#include "jail/outside/filter_code.h"
#include "jail/plan/syscalls.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * Theory of operation. The script's filter is written by hand (filter_code.c) for what libseccomp
 * 2.5.4 cannot say (decision 15): kill on another architecture, ENOSYS for x32 and for numbers that
 * were not reviewed, and checks of the low 32 bits of an argument, as the kernel reads them.
 * libseccomp knows the numbers of calls, and makes jaild's own filter.
 */

/* Room for both parts; the kernel's own maximum (BPF_MAXINSNS). */
#define FILTER_MAX 4096

/* Room for the numbers alone: a test of the number's kind, and a comparison for each end of a
 * range.
 */
#define NUMBERS_MAX 32

int filter_compile_script(enum filter_part part, struct sock_filter *program, unsigned cap)
{
	return filter_code_make(part, program, cap);
}

int filter_make_script(enum filter_part part, int *ret_fd, uint32_t *ret_count)
{
	static struct sock_filter program[FILTER_MAX];
	int count = filter_compile_script(part, program, ARRAY_SIZE(program));
	int r;

	if (count < 0)
		return count;
	r = fd_memfd_sealed("filter", program, (size_t)count * sizeof(program[0]), ret_fd);
	if (r < 0)
		return r;
	*ret_count = (uint32_t)count;
	return 0;
}

int filter_install_numbers(void)
{
	struct sock_filter program[NUMBERS_MAX];
	int count = filter_code_make(FILTER_NUMBERS, program, ARRAY_SIZE(program));
	const struct sock_fprog installed = { (unsigned short)count, program };

	if (count < 0)
		return count;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &installed, 0, 0) < 0 ? -errno : 0;
}

int filter_install_own(void)
{
	static const char *const never[] = { "ptrace", "process_vm_readv", "process_vm_writev",
		"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
		"io_uring_register", "keyctl", "add_key", "request_key", "open_by_handle_at",
		"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
		"iopl", "ioperm", "reboot", "swapon", "swapoff", "acct", "settimeofday",
		"clock_settime", "clock_adjtime", "adjtimex", "syslog", "fanotify_init",
		"pidfd_getfd", "kcmp", "chroot", "quotactl" };
	scmp_filter_ctx context;
	int r = filter_install_numbers();

	if (r < 0)
		return r;
	context = seccomp_init(SCMP_ACT_ALLOW);
	if (!context)
		return -ENOMEM;
	/* no_new_privs is a stage of its own */
	r = seccomp_attr_set(context, SCMP_FLTATR_CTL_NNP, 0);
	/* Cells inherit this filter, and the strictest answer wins: other architectures still die
	 * by the script's own filter, but its ENOSYS for x32 must not become a kill here. */
	if (r == 0)
		r = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	if (r == 0)
		r = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; i < ARRAY_SIZE(never) && r == 0; i++) {
		int number = seccomp_syscall_resolve_name(never[i]);

		if (number >= 0)
			r = seccomp_rule_add_exact(context, SCMP_ACT_ERRNO(EPERM), number, 0);
	}
	if (r == 0)
		r = seccomp_load(context);
	seccomp_release(context);
	return r;
}
