#include "jail/outside/filter.h"

#include "base/fd.h"
#include "base/macro.h"
#include "jail/outside/filter_code.h"
#include "jail/plan/syscalls.h"

#include "base/unit.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Theory of operation: the script's program is run by a small interpreter over every architecture,
 * every call number, and arguments whose halves differ. The answers are compared with the reviewed
 * tables, evaluated here a second time and in 64 bits, and with lists written down by hand. One
 * test gives the program to the kernel.
 */

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif

#define X32_BIT 0x40000000u
/* Numbers in a first row to try, far more than any architecture has. */
#define NUMBERS 1024
/* The kernel's BPF_MAXINSNS. */
#define PROGRAM_MAX 4096
#define HIGH	    0xdeadbeef00000000u

static struct sock_filter program[PROGRAM_MAX];
static unsigned count;
static struct sock_filter base[PROGRAM_MAX], rest[PROGRAM_MAX]; /* its parts */
static unsigned base_count, rest_count;
static unsigned longest; /* instructions executed for one call so far */

static const uint32_t edges[] = { 0x3fffffff, 0x7fffffff, 0x80000000u, 0x8000003bu, 0xbfffffffu,
	0xfffffffeu, 0xffffffffu };

/* linux/audit.h, all of it; each in words of its own, as old headers lack some. */
static const uint32_t architectures[] = { AUDIT_ARCH_AARCH64, AUDIT_ARCH_ALPHA,
	AUDIT_ARCH_ARCOMPACT, AUDIT_ARCH_ARCOMPACTBE, AUDIT_ARCH_ARCV2, AUDIT_ARCH_ARCV2BE,
	AUDIT_ARCH_ARM, AUDIT_ARCH_ARMEB, AUDIT_ARCH_C6X, AUDIT_ARCH_C6XBE, AUDIT_ARCH_CRIS,
	AUDIT_ARCH_CSKY, AUDIT_ARCH_FRV, AUDIT_ARCH_H8300, AUDIT_ARCH_HEXAGON, AUDIT_ARCH_I386,
	AUDIT_ARCH_IA64, AUDIT_ARCH_M32R, AUDIT_ARCH_M68K, AUDIT_ARCH_MICROBLAZE, AUDIT_ARCH_MIPS,
	AUDIT_ARCH_MIPSEL, AUDIT_ARCH_MIPS64, AUDIT_ARCH_MIPS64N32, AUDIT_ARCH_MIPSEL64,
	AUDIT_ARCH_MIPSEL64N32, AUDIT_ARCH_NDS32, AUDIT_ARCH_NDS32BE, AUDIT_ARCH_NIOS2,
	AUDIT_ARCH_OPENRISC, AUDIT_ARCH_PARISC, AUDIT_ARCH_PARISC64, AUDIT_ARCH_PPC,
	AUDIT_ARCH_PPC64, AUDIT_ARCH_PPC64LE, AUDIT_ARCH_RISCV32, AUDIT_ARCH_RISCV64,
	AUDIT_ARCH_S390, AUDIT_ARCH_S390X, AUDIT_ARCH_SH, AUDIT_ARCH_SHEL, AUDIT_ARCH_SH64,
	AUDIT_ARCH_SHEL64, AUDIT_ARCH_SPARC, AUDIT_ARCH_SPARC64, AUDIT_ARCH_TILEGX,
	AUDIT_ARCH_TILEGX32, AUDIT_ARCH_TILEPRO, AUDIT_ARCH_UNICORE, AUDIT_ARCH_X86_64,
	AUDIT_ARCH_XTENSA, AUDIT_ARCH_LOONGARCH32, AUDIT_ARCH_LOONGARCH64, 0, UINT32_MAX };

static uint32_t load(const struct seccomp_data *data, uint32_t offset)
{
	uint32_t word;

	assert_true(offset % 4 == 0 && offset <= sizeof(*data) - sizeof(word));
	memcpy(&word, (const char *)data + offset, sizeof(word));
	return word;
}

static bool jumps(const struct sock_filter *at, uint32_t a)
{
	switch (BPF_OP(at->code)) {
	case BPF_JEQ:
		return a == at->k;
	case BPF_JGT:
		return a > at->k;
	case BPF_JGE:
		return a >= at->k;
	case BPF_JSET:
		return (a & at->k) != 0;
	default:
		fail_msg("jump %#x", at->code);
		return false;
	}
}

/* Classic BPF, as much of it as a filter of ours may use; anything else fails the test. */
static uint32_t run_one(
	const struct sock_filter *instructions, unsigned n, const struct seccomp_data *data)
{
	unsigned pc = 0, steps = 0;
	uint32_t a = 0;

	while (pc < n) {
		const struct sock_filter *at = &instructions[pc++];

		steps++;
		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = load(data, at->k);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= at->k;
			break;
		case BPF_JMP | BPF_JA:
			assert_true(at->k < n - pc);
			pc += at->k;
			break;
		case BPF_RET | BPF_K:
			longest = steps > longest ? steps : longest;
			return at->k;
		default:
			if (BPF_CLASS(at->code) != BPF_JMP || BPF_SRC(at->code) != BPF_K)
				fail_msg("instruction %u: code %#x", pc - 1, at->code);
			pc += jumps(at, a) ? at->jt : at->jf;
		}
	}
	fail_msg("the program runs off its end");
	return 0;
}

/* As the kernel does with two filters: the strictest answer, the newer one's among equals. */
static uint32_t run_parts(const struct seccomp_data *data)
{
	uint32_t newer = run_one(rest, rest_count, data), older = run_one(base, base_count, data);

	return (int32_t)(older & SECCOMP_RET_ACTION_FULL) <
			       (int32_t)(newer & SECCOMP_RET_ACTION_FULL)
		       ? older
		       : newer;
}

/* What the whole filter answers; its parts must together answer the same to whatever is asked. */
static uint32_t run(const struct seccomp_data *data)
{
	uint32_t whole = run_one(program, count, data);

	assert_int_equal(run_parts(data), whole);
	return whole;
}

struct call {
	uint32_t nr;
	uint64_t args[6];
};

static uint32_t answer_on(uint32_t arch, const struct call *call)
{
	struct seccomp_data data = { .nr = (int)call->nr, .arch = arch };

	memcpy(data.args, call->args, sizeof(data.args));
	return run(&data);
}

static uint32_t answer(const struct call *call)
{
	return answer_on(NATIVE, call);
}

/* By name, with up to three arguments; 0 for a call that this architecture does not have. */
static uint32_t answer_named(const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	int number = seccomp_syscall_resolve_name(name);

	assert_true(number != __NR_SCMP_ERROR);
	return number < 0 ? 0 : answer(&(struct call){ (uint32_t)number, { a, b, c } });
}

static uint32_t error(int number)
{
	return SECCOMP_RET_ERRNO | (uint32_t)number;
}

#define ALLOW	 SECCOMP_RET_ALLOW
#define NO_CALL	 error(ENOSYS)
#define NO_RIGHT error(EPERM)

/* The same low half under several high halves must give the same answer. */
static void assert_low_half_decides(const char *name, unsigned argument, uint32_t low, uint32_t is)
{
	static const uint64_t highs[] = { 0, 1ull << 32, 1ull << 63, HIGH, 0xffffffff00000000u };

	for (size_t i = 0; i < ARRAY_SIZE(highs); i++) {
		uint64_t args[3] = { 0 };
		uint32_t got;

		args[argument] = highs[i] | low;
		got = answer_named(name, args[0], args[1], args[2]);
		if (got != is)
			fail_msg("%s(%#jx, %#jx, %#jx): %#x, not %#x", name, args[0], args[1],
				args[2], got, is);
	}
}

/* What the tables say, read apart from the compiler. */

static bool condition_holds(const struct syscall_condition *when, const struct call *call)
{
	uint64_t whole = call->args[when->argument];
	uint32_t low = (uint32_t)whole;

	switch (when->op) {
	case SYSCALL_ALWAYS:
		return true;
	case SYSCALL_EQ:
		return (low & when->mask) == when->value;
	case SYSCALL_NE:
		return (low & when->mask) != when->value;
	case SYSCALL_NEITHER:
		return (low & when->mask) != when->value && (low & when->mask) != when->mask;
	case SYSCALL_ANY:
		return (low & when->mask) != 0;
	case SYSCALL_SET:
		return whole != 0;
	}
	return false;
}

static bool rule_holds(const struct denied_syscall *rule, const struct call *call)
{
	return condition_holds(&rule->conditions[0], call) &&
	       condition_holds(&rule->conditions[1], call);
}

static uint32_t socket_answer(const struct call *call)
{
	uint32_t family = (uint32_t)call->args[0], protocol = (uint32_t)call->args[2];
	uint32_t type = (uint32_t)call->args[1] & 0xf;
	size_t n;
	const struct socket_family *families = socket_families_get(&n);

	for (size_t i = 0; i < n; i++) {
		if (families[i].number != family)
			continue;
		if (!(families[i].types & (1u << type)))
			return error(ESOCKTNOSUPPORT);
		if (protocol < 32 && families[i].protocols & (1u << protocol))
			return ALLOW;
		return error(EPROTONOSUPPORT);
	}
	return error(EAFNOSUPPORT);
}

static int denied_numbers[256];

static uint32_t table_answer(const struct call *call)
{
	size_t n;
	const struct denied_syscall *denied = denied_syscalls_get(&n);

	if (!syscall_is_reviewed(call->nr))
		return NO_CALL;
	if (call->nr == SYS_socket || call->nr == SYS_socketpair)
		return socket_answer(call);
	for (size_t i = 0; i < n; i++) {
		if (denied_numbers[i] == (int)call->nr && rule_holds(&denied[i], call))
			return error(denied[i].error);
	}
	return ALLOW;
}

static int compile(void **state)
{
	size_t n;
	const struct denied_syscall *denied = denied_syscalls_get(&n);
	int r = filter_compile_script(FILTER_WHOLE, program, PROGRAM_MAX);
	int r_base = filter_compile_script(FILTER_BASE, base, PROGRAM_MAX);
	int r_rest = filter_compile_script(FILTER_REST, rest, PROGRAM_MAX);

	if (r < 0 || r_base < 0 || r_rest < 0 || n > ARRAY_SIZE(denied_numbers))
		return -1;
	count = (unsigned)r;
	base_count = (unsigned)r_base;
	rest_count = (unsigned)r_rest;
	for (size_t i = 0; i < n; i++)
		denied_numbers[i] = seccomp_syscall_resolve_name(denied[i].name);
	return 0;
}

static void test_every_denied_name_is_a_call(void **state)
{
	/* What aarch64 never had; x86-64 has them all. */
	static const char *const absent[] = {
#if !defined(__x86_64__)
		"inotify_init",
		"create_module",
		"query_module",
		"get_kernel_syms",
		"iopl",
		"ioperm",
		"modify_ldt",
		"uselib",
		"ustat",
		"sysfs",
		"_sysctl",
		"afs_syscall",
		"tuxcall",
		"security",
		"getpmsg",
		"putpmsg",
		"vserver",
		"epoll_ctl_old",
		"epoll_wait_old",
		"set_thread_area",
		"get_thread_area",
#endif
		NULL
	};
	size_t n;
	const struct denied_syscall *denied = denied_syscalls_get(&n);

	for (size_t i = 0; i < n; i++) {
		bool is_absent = false;

		for (size_t j = 0; absent[j]; j++)
			is_absent |= strcmp(absent[j], denied[i].name) == 0;
		if (denied_numbers[i] == __NR_SCMP_ERROR || (denied_numbers[i] < 0) != is_absent)
			fail_msg("%s has the number %d", denied[i].name, denied_numbers[i]);
		assert_true(denied_numbers[i] <= SYSCALL_CEILING);
	}
}

static void test_the_instructionsis_well_formed_and_small(void **state)
{
	bool has_returned = false;

	assert_true(count >= 4 && count <= 600);
	for (unsigned pc = 0; pc < count; pc++) {
		const struct sock_filter *at = &program[pc];

		has_returned = at->code == (BPF_RET | BPF_K);
		if (BPF_CLASS(at->code) == BPF_JMP && at->code != (BPF_JMP | BPF_JA))
			assert_true(MAX(at->jt, at->jf) < (int)(count - pc - 1));
		if (!has_returned)
			continue;
		assert_true(at->k == ALLOW || at->k == SECCOMP_RET_KILL_PROCESS ||
			    at->k == NO_RIGHT || at->k == NO_CALL || at->k == error(EAFNOSUPPORT) ||
			    at->k == error(EPROTONOSUPPORT) || at->k == error(ESOCKTNOSUPPORT) ||
			    at->k == error(0) || at->k == error(ENOMEM) || at->k == error(EINVAL) ||
			    at->k == error(ENODEV) || at->k == error(ENOPROTOOPT));
	}
	assert_true(has_returned);
}

static void assert_killed(uint32_t arch)
{
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		assert_int_equal(
			answer_on(arch, &(struct call){ nr, { 0 } }), SECCOMP_RET_KILL_PROCESS);
		assert_int_equal(answer_on(arch, &(struct call){ nr | X32_BIT, { 0 } }),
			SECCOMP_RET_KILL_PROCESS);
	}
	for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
		assert_int_equal(answer_on(arch, &(struct call){ edges[i], { 0 } }),
			SECCOMP_RET_KILL_PROCESS);
}

static void test_every_foreign_architecture_kills_the_process(void **state)
{
	bool has_native = false;

	for (size_t i = 0; i < ARRAY_SIZE(architectures); i++) {
		if (architectures[i] != NATIVE)
			assert_killed(architectures[i]);
		has_native |= architectures[i] == NATIVE;
	}
	assert_true(has_native);
}

static void test_one_other_bit_is_another_architecture(void **state)
{
	for (unsigned bit = 0; bit < 32; bit++)
		assert_killed(NATIVE ^ (1u << bit));
}

static void test_x32_numbers_do_not_exist(void **state)
{
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		assert_int_equal(answer(&(struct call){ X32_BIT | nr, { 0 } }), NO_CALL);
		assert_int_equal(
			answer(&(struct call){ 0x80000000u | X32_BIT | nr, { 0 } }), NO_CALL);
	}
}

static void test_numbers_above_the_ceiling_do_not_exist(void **state)
{
	uint64_t ones = UINT64_MAX;

	for (uint32_t nr = SYSCALL_CEILING + 1; nr < 4 * NUMBERS; nr++) {
		assert_int_equal(answer(&(struct call){ nr, { 0 } }), NO_CALL);
		assert_int_equal(
			answer(&(struct call){ nr, { ones, ones, ones, ones, ones, ones } }),
			NO_CALL);
	}
	for (unsigned bit = 9; bit < 32; bit++) {
		for (uint32_t nr = 0; nr <= SYSCALL_CEILING; nr++)
			assert_int_equal(answer(&(struct call){ nr | 1u << bit, { 0 } }), NO_CALL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
		assert_int_equal(answer(&(struct call){ edges[i], { 0 } }), NO_CALL);
}

static void assert_no_call(uint32_t nr)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t value = 1ull << bit;
		const struct call call = { nr, { value, value, value, value, value, value } };

		assert_int_equal(answer(&call), NO_CALL);
	}
	assert_int_equal(answer(&(struct call){ nr, { 0 } }), NO_CALL);
}

/* What has come to the kernel after the tables were written, by the numbers of Linux 7.0. The two
 * of x86-64 lie in the middle of the others' numbers; there they are two that nobody has. */
static void test_calls_that_are_newer_than_the_tables_do_not_exist(void **state)
{
	enum {
		URETPROBE = 335,
		UPROBE = 336,
		CACHESTAT = 451,
		FCHMODAT2,
		MAP_SHADOW_STACK,
		FUTEX_WAKE,
		FUTEX_WAIT,
		FUTEX_REQUEUE,
		STATMOUNT,
		LISTMOUNT,
		LSM_GET_SELF_ATTR,
		LSM_SET_SELF_ATTR,
		LSM_LIST_MODULES,
		MSEAL,
		SETXATTRAT,
		GETXATTRAT,
		LISTXATTRAT,
		REMOVEXATTRAT,
		OPEN_TREE_ATTR,
		FILE_GETATTR,
		FILE_SETATTR,
		LISTNS,
		RSEQ_SLICE_YIELD
	};

	assert_int_equal(RSEQ_SLICE_YIELD, 471);
	assert_no_call(URETPROBE);
	assert_no_call(UPROBE);
	for (uint32_t nr = CACHESTAT; nr <= RSEQ_SLICE_YIELD; nr++)
		assert_no_call(nr);
}

/* By libseccomp's own table: what has no name there is nothing that anybody has looked at. */
static void test_a_number_without_a_name_does_not_exist(void **state)
{
	unsigned nameless = 0;

	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)nr);

		if (!name)
			assert_no_call(nr);
		nameless += !name;
		free(name);
	}
	assert_true(nameless > NUMBERS / 2);
}

/* The filter of our own programs that denies numbers and nothing else. */
static void test_numbers_alone(void **state)
{
	static struct sock_filter numbers[PROGRAM_MAX];
	int n = filter_compile_script(FILTER_NUMBERS, numbers, PROGRAM_MAX);
	struct seccomp_data data = { .arch = NATIVE };

	assert_true(n > 0 && n <= 24);
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		data.nr = (int)nr;
		assert_int_equal(run_one(numbers, (unsigned)n, &data),
			syscall_is_reviewed(nr) ? ALLOW : NO_CALL);
		data.nr = (int)(nr | X32_BIT);
		assert_int_equal(run_one(numbers, (unsigned)n, &data), NO_CALL);
		data.nr = -(int)nr - 1;
		assert_int_equal(run_one(numbers, (unsigned)n, &data), NO_CALL);
	}
	data = (struct seccomp_data){ .arch = NATIVE ^ 1, .nr = SYS_getpid };
	assert_int_equal(run_one(numbers, (unsigned)n, &data), SECCOMP_RET_KILL_PROCESS);
}

/* Each value in each argument alone, in all at once, and with another high half. */
static void assert_as_the_tables_say(uint32_t nr, uint64_t value)
{
	struct call call = { nr, { 0 } };

	for (unsigned i = 0; i < 6; i++) {
		call = (struct call){ nr, { 0 } };
		call.args[i] = value;
		assert_int_equal(answer(&call), table_answer(&call));
		call.args[i] ^= HIGH;
		assert_int_equal(answer(&call), table_answer(&call));
	}
	for (unsigned i = 0; i < 6; i++)
		call.args[i] = value;
	assert_int_equal(answer(&call), table_answer(&call));
	for (unsigned i = 0; i < 6; i++)
		call.args[i] = (value ^ HIGH) + ((uint64_t)i << 40);
	assert_int_equal(answer(&call), table_answer(&call));
}

/* Two arguments at once: both as the rule wants them, and each of them off by one bit. */
static void assert_both_as_the_tables_say(uint32_t nr, const struct syscall_condition when[2])
{
	for (unsigned off = 0; off < 4; off++) {
		struct call call = { .nr = nr };

		call.args[when[0].argument] = when[0].value ^ (off & 1);
		if (when[1].op != SYSCALL_ALWAYS)
			call.args[when[1].argument] = HIGH | (when[1].value ^ (off >> 1));
		assert_int_equal(answer(&call), table_answer(&call));
	}
}

static void test_every_number_answers_as_the_tables_say(void **state)
{
	static const uint64_t values[] = { 0, 1, 2, 6, 16, 17, 28, 35, 47, 62, 0x541b, 0x5412,
		0x541c, 0x80, 0x7f, 0x20000, 0x10000000, 0x7e020000, 0x7fffffff, 0x80000000,
		0xffffffff, 0xfffffffe, 0x59616d61, 0x100000000, 0xffffffff00000000, UINT64_MAX };
	size_t n;
	const struct denied_syscall *denied = denied_syscalls_get(&n);

	for (uint32_t nr = 0; nr <= SYSCALL_CEILING; nr++) {
		for (size_t i = 0; i < ARRAY_SIZE(values); i++)
			assert_as_the_tables_say(nr, values[i]);
		for (unsigned bit = 0; bit < 64; bit++)
			assert_as_the_tables_say(nr, 1ull << bit);
		for (size_t i = 0; i < n; i++) {
			const struct syscall_condition *when = denied[i].conditions;

			assert_as_the_tables_say(nr, when->value);
			assert_as_the_tables_say(nr, when->value ^ 1);
			assert_as_the_tables_say(nr, when->mask);
			assert_as_the_tables_say(nr, ~(uint64_t)when->mask);
			assert_both_as_the_tables_say(nr, when);
		}
	}
}

/* security.md's list, written down a second time: who takes a line out of the profile must take it
 * out here too. */
static void test_the_listed_calls_are_denied_whatever_their_arguments(void **state)
{
	static const char *const names[] = { "mount", "umount2", "pivot_root", "chroot", "fsopen",
		"fsconfig", "fsmount", "fspick", "open_tree", "move_mount", "mount_setattr",
		"unshare", "setns", "ptrace", "process_vm_readv", "process_vm_writev",
		"pidfd_getfd", "kcmp", "process_madvise", "bpf", "perf_event_open", "userfaultfd",
		"io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl", "add_key",
		"request_key", "open_by_handle_at", "name_to_handle_at", "kexec_load",
		"kexec_file_load", "init_module", "finit_module", "delete_module", "create_module",
		"iopl", "ioperm", "modify_ldt", "reboot", "swapon", "swapoff", "quotactl",
		"quotactl_fd", "acct", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
		"sethostname", "setdomainname", "syslog", "vhangup", "nfsservctl", "lookup_dcookie",
		"fanotify_init", "inotify_init", "inotify_init1", "inotify_add_watch", "mbind",
		"set_mempolicy", "migrate_pages", "move_pages", "get_mempolicy", "sched_setattr",
		"memfd_secret", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive",
		"mq_notify", "mq_getsetattr", "vmsplice", "remap_file_pages", "uselib", "ustat",
		"sysfs" };
	static const uint64_t values[] = { 0, 1, UINT32_MAX, HIGH, UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(values); j++) {
			uint32_t got = answer_named(names[i], values[j], values[j], values[j]);

			if (got != NO_RIGHT && got != 0)
				fail_msg("%s(%#jx): %#x", names[i], values[j], got);
		}
	}
	assert_int_equal(answer_named("clone3", 0, 0, 0), NO_CALL);
	assert_int_equal(answer_named("clone3", UINT64_MAX, 88, 0), NO_CALL);
	assert_int_equal(answer_named("io_setup", 1, 0, 0), NO_CALL);
}

static void test_what_interpreters_need_is_allowed(void **state)
{
	static const char *const names[] = { "read", "write", "openat", "close", "execve", "mmap",
		"mprotect", "munmap", "brk", "futex", "exit_group", "wait4", "kill", "rt_sigaction",
		"rt_sigprocmask", "getrandom", "statx", "newfstatat", "getdents64", "pipe2", "dup3",
		"epoll_ctl", "epoll_pwait", "ppoll", "bind", "connect", "listen", "accept4",
		"sendmsg", "recvmsg", "shutdown", "memfd_create", "ftruncate", "unlinkat",
		"renameat2", "mkdirat", "symlinkat", "utimensat", "sched_getaffinity",
		"set_robust_list", "rseq", "prlimit64", "getpid", "gettid", "uname",
		"clock_nanosleep", "timerfd_create", "eventfd2", "copy_file_range", "sendfile",
		"landlock_create_ruleset", "close_range", "openat2", "faccessat2" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint32_t got = answer_named(names[i], 0, 0, 0);

		if (got != ALLOW)
			fail_msg("%s: %#x", names[i], got);
	}
}

static void test_clone_makes_threads_and_children_but_no_namespace(void **state)
{
	static const uint32_t namespaces[] = { CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS,
		CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, 0x80 /* CLONE_NEWTIME */ };
	static const uint32_t harmless[] = { 0, SIGCHLD,
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
		CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD,
		CLONE_VM | CLONE_VFORK | SIGCHLD, CLONE_PIDFD | SIGCHLD };

	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++) {
		assert_low_half_decides("clone", 0, harmless[i], ALLOW);
		for (size_t j = 0; j < ARRAY_SIZE(namespaces); j++)
			assert_low_half_decides("clone", 0, harmless[i] | namespaces[j], NO_RIGHT);
	}
	assert_low_half_decides("clone", 0, UINT32_MAX, NO_RIGHT);
}

static void test_ioctl_cannot_type_into_terminals(void **state)
{
	assert_low_half_decides("ioctl", 1, 0x5412, NO_RIGHT); /* TIOCSTI */
	assert_low_half_decides("ioctl", 1, 0x541c, NO_RIGHT); /* TIOCLINUX */
	assert_low_half_decides("ioctl", 1, 0x5401, ALLOW);    /* TCGETS */
	assert_low_half_decides("ioctl", 1, 0x5413, ALLOW);    /* TIOCGWINSZ */
	assert_low_half_decides("ioctl", 1, 0x80005412, ALLOW);
	assert_low_half_decides("ioctl", 0, 0x5412, ALLOW);
	assert_low_half_decides("ioctl", 2, 0x5412, ALLOW);
}

static void test_prctl_options_that_are_denied(void **state)
{
	static const uint32_t denied[] = { PR_SET_MM, PR_SET_SECUREBITS, PR_CAP_AMBIENT,
		PR_CAPBSET_DROP, 0x59616d61 /* PR_SET_PTRACER */, 62 /* PR_SCHED_CORE */,
		67 /* PR_SET_MEMORY_MERGE */, PR_SET_SECCOMP };
	static const uint32_t allowed[] = { PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG,
		PR_SET_DUMPABLE, PR_GET_SECUREBITS, PR_CAPBSET_READ, PR_SET_NO_NEW_PRIVS,
		PR_SET_VMA, 0, UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(denied); i++)
		assert_low_half_decides("prctl", 0, denied[i], NO_RIGHT);
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		assert_low_half_decides("prctl", 0, allowed[i], ALLOW);
	assert_low_half_decides("prctl", 1, PR_SET_MM, ALLOW);
}

static void test_personality_is_not_changed(void **state)
{
	assert_low_half_decides("personality", 0, 0, ALLOW);
	assert_low_half_decides("personality", 0, ADDR_NO_RANDOMIZE, NO_RIGHT);
	assert_low_half_decides("personality", 0, READ_IMPLIES_EXEC, NO_RIGHT);
	for (unsigned bit = 0; bit < 32; bit++)
		assert_low_half_decides("personality", 0, 1u << bit, NO_RIGHT);
	assert_low_half_decides("personality", 0, 0xfffffffe, NO_RIGHT);
	assert_low_half_decides("personality", 0, 0xffffffff, ALLOW);
}

static void test_prlimit_is_for_oneself(void **state)
{
	assert_low_half_decides("prlimit64", 0, 0, ALLOW);
	assert_low_half_decides("prlimit64", 0, 1, NO_RIGHT);
	assert_low_half_decides("prlimit64", 0, UINT32_MAX, NO_RIGHT);
	assert_low_half_decides("prlimit64", 1, 1, ALLOW);
}

static void test_no_real_time_class_with_or_without_reset_on_fork(void **state)
{
	for (uint32_t policy = 0; policy < 8; policy++) {
		uint32_t is = policy == 1 || policy == 2 || policy == 6 ? NO_RIGHT : ALLOW;

		assert_low_half_decides("sched_setscheduler", 1, policy, is);
		assert_low_half_decides("sched_setscheduler", 1, policy | 0x40000000, is);
		assert_low_half_decides("sched_setscheduler", 0, policy, ALLOW);
	}
}

/* By hand: unix 0 and 1; inet and inet6 0, TCP, UDP. */
static uint32_t socket_expected(uint32_t family, uint32_t protocol)
{
	switch (family) {
	case AF_UNIX:
		return protocol <= 1 ? ALLOW : error(EPROTONOSUPPORT);
	case AF_INET:
	case AF_INET6:
		return protocol == 0 || protocol == 6 || protocol == 17 ? ALLOW
									: error(EPROTONOSUPPORT);
	default:
		return error(EAFNOSUPPORT);
	}
}

static void assert_socket(const char *name, uint32_t family, uint32_t protocol)
{
	uint32_t is = socket_expected(family, protocol);

	assert_int_equal(answer_named(name, family, SOCK_DGRAM, protocol), is);
	assert_int_equal(answer_named(name, family, SOCK_DGRAM | SOCK_CLOEXEC, protocol), is);
	assert_int_equal(answer_named(name, HIGH | family, SOCK_DGRAM, protocol), is);
	assert_int_equal(answer_named(name, family, SOCK_DGRAM, HIGH | protocol), is);
	assert_int_equal(answer_named(name, HIGH | family, HIGH | SOCK_DGRAM, HIGH | protocol), is);
}

static void test_sockets_by_family_and_protocol(void **state)
{
	static const char *const names[] = { "socket", "socketpair" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		for (uint32_t family = 0; family < 64; family++) {
			for (uint32_t protocol = 0; protocol < 300; protocol++)
				assert_socket(names[i], family, protocol);
			for (unsigned bit = 0; bit < 32; bit++)
				assert_socket(names[i], family, 1u << bit);
			assert_socket(names[i], family, UINT32_MAX);
		}
		for (unsigned bit = 6; bit < 32; bit++)
			assert_socket(names[i], 1u << bit | AF_INET, 6);
		assert_socket(names[i], UINT32_MAX, 0);
	}
}

/* By hand: types that load no module. */
static void test_sockets_by_type(void **state)
{
	for (uint32_t type = 0; type < 16; type++) {
		bool is_unix = type == 1 || type == 2 || type == 3 || type == 5;

		assert_int_equal(answer_named("socket", AF_INET, type, 0),
			type == 1 || type == 2 ? ALLOW : error(ESOCKTNOSUPPORT));
		assert_int_equal(answer_named("socket", AF_INET6, type | SOCK_NONBLOCK, 6),
			type == 1 || type == 2 ? ALLOW : error(ESOCKTNOSUPPORT));
		assert_int_equal(answer_named("socketpair", AF_UNIX, type, 0),
			is_unix ? ALLOW : error(ESOCKTNOSUPPORT));
		assert_int_equal(answer_named("socket", AF_NETLINK, type, 0), error(EAFNOSUPPORT));
	}
}

/* The kernel runs a core handler behind a pipe as root unless RLIMIT_CORE is exactly 1. */
static void test_the_core_limit_stays(void **state)
{
	assert_int_equal(answer_named("setrlimit", 4, 1, 0), error(0));
	assert_int_equal(answer_named("setrlimit", 7, 1, 0), ALLOW);
	assert_int_equal(answer_named("prlimit64", 0, 4, 1), error(0));
	assert_int_equal(answer_named("prlimit64", 0, 4, HIGH), error(0));
	assert_int_equal(answer_named("prlimit64", 0, 4, 0), ALLOW);
	assert_int_equal(answer_named("prlimit64", 0, 7, 1), ALLOW);
	assert_int_equal(answer_named("prlimit64", 9, 4, 0), NO_RIGHT);
}

static void test_the_instruction_pointer_does_not_matter(void **state)
{
	for (uint32_t nr = 0; nr <= SYSCALL_CEILING; nr++) {
		struct seccomp_data data = { .nr = (int)nr, .arch = NATIVE };
		uint32_t at_zero = run(&data);

		data.instruction_pointer = UINT64_MAX;
		assert_int_equal(run(&data), at_zero);
	}
}

/* After the tests above, which went through every block: each call in a jail costs this much. */
static void test_no_call_takes_long(void **state)
{
	print_message("# %u instructions, at most %u for one call; in parts %u and %u\n", count,
		longest, base_count, rest_count);
	/* setsockopt, whose lines are tried one after the other; it is no call of loops */
	assert_true(longest > 10 && longest <= 80);
}

/* What a run pays for is the second part: it has the first from its maker. */
static void test_the_rest_is_short(void **state)
{
	assert_true(rest_count <= 32);
}

static void test_a_instructionsthat_does_not_fit_is_refused(void **state)
{
	for (unsigned cap = 0; cap < count; cap++) {
		/* exact, so that AddressSanitizer sees what is written behind it */
		struct sock_filter *small = calloc(cap > 0 ? cap : 1, sizeof(*small));

		assert_non_null(small);
		assert_int_equal(filter_compile_script(FILTER_WHOLE, small, cap), -E2BIG);
		free(small);
	}
}

static void test_the_memfd_holds_the_same_instructionssealed(void **state)
{
	static struct sock_filter read_back[PROGRAM_MAX];
	AUTO_CLOSE int fd = -1;
	uint32_t n = 0;

	assert_int_equal(filter_make_script(FILTER_WHOLE, &fd, &n), 0);
	assert_int_equal(n, count);
	assert_true(fd_is_sealed(fd));
	assert_int_equal(fd_read_full(fd, read_back, sizeof(read_back)), n * sizeof(read_back[0]));
	assert_memory_equal(read_back, program, n * sizeof(program[0]));
}

/* In a child: 0, or the number of the first answer that was wrong. */
static int kernel_try(void)
{
	struct sock_fprog installed = { .len = (unsigned short)count, .filter = program };
	const struct {
		long nr, a, b, c;
		int error;
	} calls[] = {
		{ SYS_getppid, 0, 0, 0, 0 },
		{ SYS_unshare, 0, 0, 0, EPERM },
		{ SYS_mount, 0, 0, 0, EPERM },
		{ SYS_ptrace, 0, 0, 0, EPERM },
		{ SYS_clone3, 0, 0, 0, ENOSYS },
		{ SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, EPERM },
		{ SYS_clone, 1L << 33 | CLONE_NEWNS | SIGCHLD, 0, 0, EPERM },
		{ SYS_socket, AF_INET, SOCK_STREAM, 0, 0 },
		{ SYS_socket, AF_INET, SOCK_STREAM, 132, EPROTONOSUPPORT },
		{ SYS_socket, 38 /* alg */, SOCK_SEQPACKET, 0, EAFNOSUPPORT },
		{ SYS_personality, 0, 0, 0, 0 },
		{ SYS_personality, 0xffffffff, 0, 0, 0 },
		{ SYS_personality, ADDR_NO_RANDOMIZE, 0, 0, EPERM },
		{ SYS_prctl, 1L << 40 | PR_CAPBSET_DROP, 0, 0, EPERM },
		{ SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0 },
		{ SYSCALL_CEILING + 1, 0, 0, 0, ENOSYS },
		{ 423, 0, 0, 0, ENOSYS },
		{ X32_BIT | 39, 0, 0, 0, ENOSYS },
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &installed, 0, 0) < 0)
		return 100;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		long r = syscall(calls[i].nr, calls[i].a, calls[i].b, calls[i].c, 0, 0);

		if (calls[i].error == 0 ? r < 0 : r != -1 || errno != calls[i].error)
			return (int)i + 1;
	}
	return 0;
}

static void test_the_kernel_takes_it_and_answers_alike(void **state)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(kernel_try());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* In a child: 0, or what was wrong. */
static int own_try(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || filter_install_own() < 0)
		return 100;
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		/* the kernel asks no filter about these two: tests/attack/ideas/filter_unknown.py
		 */
		if (syscall_is_reviewed(nr) || nr == 335 || nr == 336)
			continue;
		if (syscall(nr, 0, 0, 0, 0, 0, 0) != -1 || errno != ENOSYS)
			return 1;
	}
	return getppid() > 0 ? 0 : 2;
}

static void test_our_own_programs_make_no_call_that_nobody_has_looked_at(void **state)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(own_try());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_denied_name_is_a_call),
		cmocka_unit_test(test_the_instructionsis_well_formed_and_small),
		cmocka_unit_test(test_every_foreign_architecture_kills_the_process),
		cmocka_unit_test(test_one_other_bit_is_another_architecture),
		cmocka_unit_test(test_x32_numbers_do_not_exist),
		cmocka_unit_test(test_numbers_above_the_ceiling_do_not_exist),
		cmocka_unit_test(test_calls_that_are_newer_than_the_tables_do_not_exist),
		cmocka_unit_test(test_a_number_without_a_name_does_not_exist),
		cmocka_unit_test(test_numbers_alone),
		cmocka_unit_test(test_every_number_answers_as_the_tables_say),
		cmocka_unit_test(test_the_listed_calls_are_denied_whatever_their_arguments),
		cmocka_unit_test(test_what_interpreters_need_is_allowed),
		cmocka_unit_test(test_clone_makes_threads_and_children_but_no_namespace),
		cmocka_unit_test(test_ioctl_cannot_type_into_terminals),
		cmocka_unit_test(test_prctl_options_that_are_denied),
		cmocka_unit_test(test_personality_is_not_changed),
		cmocka_unit_test(test_prlimit_is_for_oneself),
		cmocka_unit_test(test_no_real_time_class_with_or_without_reset_on_fork),
		cmocka_unit_test(test_sockets_by_family_and_protocol),
		cmocka_unit_test(test_sockets_by_type),
		cmocka_unit_test(test_the_core_limit_stays),
		cmocka_unit_test(test_the_instruction_pointer_does_not_matter),
		cmocka_unit_test(test_no_call_takes_long),
		cmocka_unit_test(test_the_rest_is_short),
		cmocka_unit_test(test_a_instructionsthat_does_not_fit_is_refused),
		cmocka_unit_test(test_the_memfd_holds_the_same_instructionssealed),
		cmocka_unit_test(test_the_kernel_takes_it_and_answers_alike),
		cmocka_unit_test(test_our_own_programs_make_no_call_that_nobody_has_looked_at),
	};

	return cmocka_run_group_tests(tests, compile, NULL);
}
