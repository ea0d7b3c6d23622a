/*
 * Theory of operation: the supervisor reads what strangers send, so it is built to be worth
 * nothing when one of them takes it over. It holds descriptors and needs nothing else:
 *
 * - identity: for root another user, no groups; no capability in any set, none to come back;
 * - Landlock with two rules, /dev/null for reading (a run's stdin), and the folder of kept sessions
 *   (store/store.h) for its files: no other file can be opened by name; no TCP port can be bound or
 * reached where the kernel knows (ABI 4), and abstract sockets and signals stay inside (ABI 6);
 * - a filter: no exec, no new process (threads only), no socket(2), connect(2) or signal to another
 *   process, no namespaces, mounts, tracing, modules, keys, bpf, io_uring. A deny list, since
 * glibc's own needs change, of the calls that were reviewed for scripts: others are none (ENOSYS).
 * socketpair(2) stays, for more connections to jaild.
 *
 * Landlock is required where the jail's is (stock Debian 12 has it). The constants are ours because
 * Debian 12's headers are older than the kernels it may run on.
 */
#include "supervisor/lock/lock.h"

#include "base/fd.h"
#include "base/macro.h"
#include "jail/outside/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

struct landlock_attr {
	uint64_t handled_fs;
	uint64_t handled_net;
	uint64_t scoped;
};

/* Rights by ABI: 1 has 13 of files, 2 adds refer, 3 truncate, 5 device ioctls; 4 both of TCP; 6
 * both scopes. linux/landlock.h */
static struct landlock_attr landlock_attr_make(long abi)
{
	struct landlock_attr attr = { .handled_fs = (1u << 13) - 1 };

	if (abi >= 2)
		attr.handled_fs |= 1u << 13;
	if (abi >= 3)
		attr.handled_fs |= 1u << 14;
	if (abi >= 4)
		attr.handled_net = 3;
	if (abi >= 5)
		attr.handled_fs |= 1u << 15;
	if (abi >= 6)
		attr.scoped = 3;
	return attr;
}

struct landlock_rule {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

#define LANDLOCK_READ_FILE    (1u << 2)
#define LANDLOCK_PATH_BENEATH 1

/* In the store: files and what is in them, and its list; no folders, links, devices, and nothing to
 * execute. Bits of linux/landlock.h: write, read, list, remove and make a regular file, cut. */
#define LANDLOCK_STORE (1u << 1 | 1u << 2 | 1u << 3 | 1u << 5 | 1u << 8 | 1u << 14)

static int store_allow(int ruleset_fd, int store_fd, uint64_t handled)
{
	const struct landlock_rule rule = { .allowed = LANDLOCK_STORE & handled, .fd = store_fd };

	if (store_fd < 0)
		return 0;
	return syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_PATH_BENEATH, &rule, 0) < 0
		       ? -errno
		       : 0;
}

static int null_allow(int ruleset_fd)
{
	AUTO_CLOSE int fd = open("/dev/null", O_PATH | O_CLOEXEC);
	const struct landlock_rule rule = { .allowed = LANDLOCK_READ_FILE, .fd = fd };

	if (fd < 0 ||
		syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_PATH_BENEATH, &rule, 0) < 0)
		return -errno;
	return 0;
}

static int landlock_lock(int store_fd)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* ask for the version */);
	AUTO_CLOSE int fd = -1;
	struct landlock_attr attr;
	size_t size = sizeof(attr);
	int r;

	if (abi < 0)
		return -errno;
	attr = landlock_attr_make(abi);
	if (abi < 6)
		size = offsetof(struct landlock_attr, scoped);
	if (abi < 4)
		size = offsetof(struct landlock_attr, handled_net);
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (fd < 0)
		return -errno;
	r = null_allow(fd);
	if (r == 0)
		r = store_allow(fd, store_fd, attr.handled_fs);
	if (r == 0 && syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		r = -errno;
	return r;
}

static const int denied[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(fork),
	SCMP_SYS(vfork),
	SCMP_SYS(socket),
	SCMP_SYS(connect),
	SCMP_SYS(bind),
	SCMP_SYS(listen),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(process_madvise),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(kill),
	SCMP_SYS(tkill),
	SCMP_SYS(kcmp),
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(pivot_root),
	SCMP_SYS(chroot),
	SCMP_SYS(fsopen),
	SCMP_SYS(fsconfig),
	SCMP_SYS(fsmount),
	SCMP_SYS(fspick),
	SCMP_SYS(open_tree),
	SCMP_SYS(move_mount),
	SCMP_SYS(mount_setattr),
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register),
	SCMP_SYS(keyctl),
	SCMP_SYS(add_key),
	SCMP_SYS(request_key),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(name_to_handle_at),
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(reboot),
	SCMP_SYS(swapon),
	SCMP_SYS(swapoff),
	SCMP_SYS(acct),
	SCMP_SYS(settimeofday),
	SCMP_SYS(clock_settime),
	SCMP_SYS(clock_adjtime),
	SCMP_SYS(adjtimex),
	SCMP_SYS(sethostname),
	SCMP_SYS(setdomainname),
	SCMP_SYS(syslog),
	SCMP_SYS(vhangup),
	SCMP_SYS(quotactl),
	SCMP_SYS(fanotify_init),
	SCMP_SYS(personality),
	SCMP_SYS(chmod),
	SCMP_SYS(fchmodat),
	SCMP_SYS(chown),
	SCMP_SYS(lchown),
	SCMP_SYS(fchownat),
	SCMP_SYS(setxattr),
	SCMP_SYS(lsetxattr),
	SCMP_SYS(setuid),
	SCMP_SYS(setgid),
	SCMP_SYS(setresuid),
	SCMP_SYS(setresgid),
	SCMP_SYS(setgroups),
	SCMP_SYS(capset),
};

/* Denies all of the above, clone(2) of anything but a thread, and clone3(2), whose flags no filter
 * sees: glibc then takes clone(2). */
static int filter_fill(scmp_filter_ctx filter)
{
	int r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);

	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
			SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(denied); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), denied[i], 0);
	return r;
}

static int filter_lock(void)
{
	scmp_filter_ctx filter;
	int r = filter_install_numbers();

	if (r < 0)
		return r;
	filter = seccomp_init(SCMP_ACT_ALLOW);
	if (!filter)
		return -ENOMEM;
	r = filter_fill(filter);
	if (r == 0)
		r = seccomp_load(filter);
	seccomp_release(filter);
	return r;
}

/* Root becomes the user and keeps nothing. Anybody else has nothing to lose but groups that are
 * his own. */
static int identity_take(const struct options *options)
{
	for (int capability = 0; options->has_user && capability < 64; capability++)
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0 && errno != EINVAL)
			return -errno;
	if (options->has_user && (setgroups(0, NULL) < 0 ||
					 setresgid(options->gid, options->gid, options->gid) < 0 ||
					 setresuid(options->uid, options->uid, options->uid) < 0))
		return -errno;
	return geteuid() == 0 ? -EPERM : 0;
}

/* No capability, by whatever way one may have come: ambient, inheritable, as a file's. */
static int capabilities_drop(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -errno;
	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

static int privileges_refuse(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

int lock_in(const struct options *options, const char **ret_what)
{
	int r;

	*ret_what = "user";
	r = identity_take(options);
	if (r == 0) {
		*ret_what = "capabilities";
		r = capabilities_drop();
	}
	if (r == 0) {
		*ret_what = "no_new_privs";
		r = privileges_refuse();
	}
	if (r == 0) {
		*ret_what = "landlock";
		r = landlock_lock(options->store_fd);
	}
	if (r == 0) {
		*ret_what = "filter";
		r = filter_lock();
	}
	return r;
}
