#include "launch/inner_exec.h"

#include "base/fd.h"
#include "base/str.h"
#include "launch/options.h"
#include "launch/refuse.h"
#include "launch/setup.h"
#include "wire/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The image's folder is opened before the change of ids: it may lie below a folder of root's that
 * jaild's uid cannot enter. The mount namespace is the new one already, so jaild can bind it.
 */

static int rootfs_open(const struct options *options, int *ret_fd)
{
	int r;

	*ret_fd = -1;
	if (!options->rootfs)
		return 0;
	*ret_fd = open(options->rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd >= 0)
		return 0;
	r = -errno;
	(void)fprintf(stderr, "cloche: --rootfs %s: %s\n", options->rootfs, strerror(-r));
	return r;
}

static int identity_take(void)
{
	if (setgroups(0, NULL) < 0)
		return -errno;
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return -errno;
	/* the change of ids has cleared it */
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? -errno : 0;
}

/* The launcher may have died while no signal was set for that. Its pid cannot be asked for: it has
 * none in this namespace. */
static bool launcher_is_there(int launcher_fd)
{
	struct pollfd hangup = { .fd = launcher_fd };

	return poll(&hangup, 1, 0) == 0;
}

/* A pipe of jaild's own description, so that no log of it waits for a reader: the flag on the one
 * that we inherit would be its other users' too. Where it cannot be opened it stays. */
static void log_open(void)
{
	struct stat status;
	int fd;

	if (fstat(STDERR_FILENO, &status) < 0 || !S_ISFIFO(status.st_mode))
		return;
	fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		(void)dup2(fd, STDERR_FILENO);
	(void)fd_close(fd);
}

/* jaild inherits the descriptors of its setup, its log, and nothing else. */
static int descriptors_keep(const struct setup *setup, int setup_fd)
{
	const int keep[] = { setup->client_fd, setup->init_fd, setup->rootfs_fd,
		setup->cgroups.unified_fd, setup->cgroups.memory_fd, setup->cgroups.pids_fd,
		setup->cgroups.cpu_fd, setup_fd };
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0)
		return -errno;
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(keep) / sizeof(keep[0]); i++) {
		if (keep[i] >= 0 && fcntl(keep[i], F_SETFD, 0) < 0)
			return -errno;
	}
	return 0;
}

static int jaild_execute(const struct setup *setup)
{
	AUTO_CLOSE int self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char name[] = "cloche-jaild", option[] = "--inner", number[16];
	char *const argv[] = { name, option, number, NULL };
	char *const envp[] = { NULL };
	int setup_fd, r;

	if (self_fd < 0)
		return -errno;
	r = fd_memfd_sealed("setup", setup, sizeof(*setup), &setup_fd);
	if (r < 0)
		return r;
	(void)str_format(number, sizeof(number), "%d", setup_fd);
	r = descriptors_keep(setup, setup_fd);
	if (r < 0)
		return r;
	execveat(self_fd, "", argv, envp, AT_EMPTY_PATH);
	return -errno;
}

void inner_exec(const struct inner *inner)
{
	struct setup setup = { .magic = SETUP_MAGIC,
		.client_fd = inner->options->socket_fd,
		.init_fd = inner->files->init_fd,
		.cgroups = *inner->cgroups,
		.ids = inner->ids,
		.zygote_max_runs = inner->options->zygote_max_runs,
		.stage_to_fail = inner->options->stage_to_fail,
		.log_level = inner->options->log_level };
	enum stage stage = STAGE_OUTER_ROOTFS;
	int r;

	log_open();
	r = STAGE_TRY(stage, rootfs_open(inner->options, &setup.rootfs_fd));
	if (r == 0) {
		stage = STAGE_OUTER_IDENTITY;
		r = STAGE_TRY(stage, identity_take());
	}
	if (r == 0 && !launcher_is_there(inner->launcher_fd))
		_exit(1);
	if (r == 0) {
		stage = STAGE_OUTER_EXEC;
		r = STAGE_TRY(stage, jaild_execute(&setup));
	}
	refuse_start(setup.client_fd, stage, r, NULL);
}
