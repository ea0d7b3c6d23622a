#include "jaild/start.h"

#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"
#include "jail/outside/bind.h"
#include "jail/outside/caps.h"
#include "jail/outside/filter.h"
#include "jail/outside/procfs.h"
#include "jail/outside/template.h"
#include "jail/outside/tmpfs.h"
#include "jail/plan/plan.h"
#include "jail/zygote/zygote_filter.h"
#include "jaild/bootstrap.h"
#include "jaild/session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The order matters: the template needs the host's tree, which our own pivot takes away; a procfs
 * can only be made where one is visible, so ours is made first and attached in our own root for
 * the later ones; the filter and the capabilities come last, because they forbid what came before.
 */

/* What the steady state needs, each one tried: mounts and namespaces,
 * setns of a mount namespace, id maps, files of the scripts' ids. DAC_READ_SEARCH is the weaker
 * half of DAC_OVERRIDE, for the walker, which keeps nothing else. */
#define CAP(name) (1ULL << CAP_##name)
#define CAPABILITIES                                                                               \
	(CAP(SYS_ADMIN) | CAP(SYS_CHROOT) | CAP(SETUID) | CAP(SETGID) | CAP(DAC_OVERRIDE) |        \
		CAP(DAC_READ_SEARCH) | CAP(CHOWN) | CAP(FOWNER))

/* jaild's own root holds a few folders. */
#define ROOT_BYTES  (1024 * 1024)
#define ROOT_INODES 4096

static void setup_take(struct jaild *jaild, const struct setup *setup)
{
	cpu_set_t cpus;

	jaild->init_fd = setup->init_fd;
	jaild->cgroups = setup->cgroups;
	jaild->ids = setup->ids;
	jaild->next_id = 1;
	maker_init(&jaild->maker);
	nursery_init(jaild, setup->zygote_max_runs);
	/* random, so that two instances with one range are not likely to share a pair */
	if (getrandom(&jaild->next_pair, sizeof(jaild->next_pair), 0) < 0)
		jaild->next_pair = (uint32_t)clock_now_us();
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) {
		for (unsigned i = 0; i < 64; i++)
			jaild->cpus_allowed |= CPU_ISSET(i, &cpus) ? 1ULL << i : 0;
	}
}

/* Everything that is ours stays when we execute nothing any more; but cells execute init. */
static int descriptors_take(struct jaild *jaild, int client_fd)
{
	AUTO_CLOSE int null_fd = -1;
	int init_fd;
	const int inherited[] = { client_fd, jaild->init_fd, jaild->cgroups.unified_fd,
		jaild->cgroups.memory_fd, jaild->cgroups.pids_fd, jaild->cgroups.cpu_fd };

	for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++) {
		if (inherited[i] >= 0 && fcntl(inherited[i], F_SETFD, FD_CLOEXEC) < 0)
			return -errno;
	}
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd < 0)
		return -errno;
	/* out of the way of 0 to INIT_CONTROL_FD, which a cell's first process fills (spawn.c) */
	jaild->null_fd = fd_dup_above(null_fd, INIT_CONTROL_FD + 1);
	init_fd = fd_dup_above(jaild->init_fd, INIT_CONTROL_FD + 1);
	if (jaild->null_fd < 0 || init_fd < 0)
		return -EMFILE;
	(void)fd_close(jaild->init_fd);
	jaild->init_fd = init_fd;
	return 0;
}

/* As many descriptors as we are allowed; how many sessions fit into them. */
static void sessions_bound(struct jaild *jaild)
{
	struct rlimit limit = { .rlim_cur = 1024 };
	rlim_t fit = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur > WIRE_OTHER_DESCRIPTORS)
		fit = (limit.rlim_cur - WIRE_OTHER_DESCRIPTORS) / WIRE_SESSION_DESCRIPTORS;
	jaild->sessions_max = (unsigned)MIN(MAX(fit, (rlim_t)1), (rlim_t)SESSIONS_MAX);
}

/* A keyring of our own: the one of the login session must not travel into cells. */
static int keyring_leave(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
		return -errno;
	return 0;
}

/* Takes rootfs_fd over (-1: the host's root). It must not stay open: ".." leads out of an image. */
static int template_start(struct jaild *jaild, int rootfs_fd)
{
	AUTO_CLOSE int root_fd = rootfs_fd;
	struct template_source source = { .is_image = rootfs_fd >= 0 };

	source.files = bootstrap_files(&source.n_files);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	if (root_fd < 0)
		root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return -errno;
	source.root_fd = root_fd;
	return template_make(&source, jaild->proc_fd, &jaild->template_ns_fd);
}

/* Where cells forbid namespaces from. Time namespaces nobody here needs: they are forbidden at
 * once, in our own user namespace, which bounds what all cells below it may have together. */
static int limits_make(struct jaild *jaild)
{
	int r = 0;

	for (; r == 0 && jaild->n_limits < LIMITS_FDS_PER_RUN; jaild->n_limits += r == 0)
		r = procfs_limits_make(&jaild->limits_fds[jaild->n_limits]);
	return r < 0 ? r : fd_write_file(jaild->limits_fds[0], "max_time_namespaces", "0");
}

/* A root of our own with /proc and the folder of homes, attached over the host's /proc for the
 * moment between two calls. */
static int mounts_make(struct jaild *jaild)
{
	struct tmpfs_options options = {
		.size_bytes = ROOT_BYTES, .inodes = ROOT_INODES, .owner = 0, .mode = "0700"
	};
	AUTO_CLOSE int root_fd = -1;
	int r;

	r = tmpfs_make(&options, &root_fd);
	if (r < 0)
		return r;
	if (mkdirat(root_fd, "proc", 0755) < 0 || mkdirat(root_fd, "homes", 0700) < 0)
		return -errno;
	if (move_mount(root_fd, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	if (move_mount(jaild->proc_fd, "", root_fd, "proc", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	r = bind_pivot(root_fd);
	if (r < 0)
		return r;
	jaild->homes_fd = open("/homes", O_PATH | O_DIRECTORY | O_CLOEXEC);
	jaild->own_ns_fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	jaild->own_network.fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	jaild->own_network.ipc_fd = open("/proc/self/ns/ipc", O_RDONLY | O_CLOEXEC);
	if (jaild->homes_fd < 0 || jaild->own_ns_fd < 0 || jaild->own_network.fd < 0 ||
		jaild->own_network.ipc_fd < 0)
		return -errno;
	return limits_make(jaild);
}

/* The filter, and the Landlock version that cells are restricted with: at least the first. */
static int filters_make(struct jaild *jaild)
{
	long abi = syscall(
		SYS_landlock_create_ruleset, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
	int r;

	if (abi < 0)
		return -errno;
	jaild->landlock_abi = (unsigned)abi;
	r = filter_make_script(FILTER_WHOLE, &jaild->filter_fd, &jaild->filter_count);
	if (r < 0)
		return r;
	if (jaild->nursery.max_runs > 0) {
		r = zygote_filter_make(&jaild->nursery.filter_fd, &jaild->nursery.filter_count);

		if (r < 0)
			return r;
	}
	return maker_filters_make(&jaild->filters);
}

static int lock_in(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return filter_install_own();
}

/* Ahead of the first cell; if it fails, that one tells. */
static void maker_begin(struct jaild *jaild)
{
	jaild->maker_base = (struct maker_base){ .spawn = { .init_fd = jaild->init_fd,
							 .null_fd = jaild->null_fd,
							 .template_ns_fd = jaild->template_ns_fd,
							 .own_ns_fd = jaild->own_ns_fd,
							 .leaf_fd = -1,
							 .tasks_fd = -1 },
		.own = jaild->own_network,
		.filters = &jaild->filters };
	(void)maker_start(&jaild->maker, &jaild->maker_base);
}

int start_jaild(struct jaild *jaild, const struct setup *setup, enum stage *ret_stage)
{
	struct failure failure = { 0 };

	*jaild = (struct jaild){ 0 };
	setup_take(jaild, setup);
	sessions_bound(jaild);
	if (!step_failed(&failure, STAGE_START_SETUP, descriptors_take(jaild, setup->client_fd)) &&
		!step_failed(&failure, STAGE_START_KEYRING, keyring_leave()) &&
		!step_failed(&failure, STAGE_START_PROC, procfs_make_own(&jaild->proc_fd)) &&
		!step_failed(
			&failure, STAGE_START_TEMPLATE, template_start(jaild, setup->rootfs_fd)) &&
		!step_failed(&failure, STAGE_START_MOUNTS, mounts_make(jaild)) &&
		!step_failed(&failure, STAGE_START_FILTER, filters_make(jaild)) &&
		!step_failed(&failure, STAGE_START_CAPABILITIES, caps_reduce(CAPABILITIES)) &&
		!step_failed(&failure, STAGE_START_LOCK, lock_in()))
		(void)failed(&failure, STAGE_START_SETUP, loop_init(&jaild->loop));
	if (failure.error == 0) {
		maker_begin(jaild);
		nursery_start(jaild);
	}
	*ret_stage = failure.stage;
	/* libseccomp and the template's maker have left some heap */
	(void)malloc_trim(0);
	return -failure.error;
}
