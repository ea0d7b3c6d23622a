/*
 * Theory of operation: the launcher is started with nothing of ours but stderr (for its remedies)
 * and the socket as descriptor 3. It gets a session of its own, so that Ctrl-C in a terminal
 * reaches us alone: we cancel the run, jaild reports its end, and the answer is whole.
 *
 * The end: closing the socket is the order to stop. The launcher lives until jaild's pid namespace
 * is empty and its cgroups are removed, so waiting for it by pidfd means that nothing is left.
 */
#include "base/fd.h"
#include "base/str.h"
#include "jail/client/jaild.h"
#include "jail/client/program.h"
#include "wire/channel.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

int jaild_find_program(const char *name, char *ret_path, size_t size)
{
	static const char *const places[] = { "", "../libexec/cloche/" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return -ENOENT;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return -ENOENT;
	slash[1] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (str_format(ret_path, size, "%s%s%s", self, places[i], name) == 0 &&
			access(ret_path, X_OK) == 0)
			return 0;
	return -ENOENT;
}

/* Fills argv, which has room for every option and NULL. */
static void arguments_make(const struct jaild_options *options, const char *argv[10])
{
	size_t n = 0;

	argv[n++] = "cloche-jaild";
	argv[n++] = "--socket-fd";
	argv[n++] = "3";
	if (options->rootfs) {
		argv[n++] = "--rootfs";
		argv[n++] = options->rootfs;
	}
	if (options->is_host_unlimited)
		argv[n++] = "--unlimited-host";
	if (options->fail_stage) {
		argv[n++] = "--fail-stage";
		argv[n++] = options->fail_stage;
	}
	argv[n] = NULL;
}

int jaild_start(struct jaild *jaild, const struct jaild_options *options)
{
	char found[PATH_MAX];
	const char *program = options->program;
	const char *argv[10];
	int pair[2], r;

	*jaild = (struct jaild)JAILD_INIT;
	if (!program && jaild_find_program("cloche-jaild", found, sizeof(found)) < 0) {
		fault_set(&jaild->fault, FAULT_SANDBOX_UNAVAILABLE,
			"cloche-jaild is neither beside cloche nor in ../libexec/cloche: build or "
			"install it");
		return -ENOENT;
	}
	r = channel_pair(pair);
	if (r < 0) {
		fault_set(&jaild->fault, FAULT_SANDBOX_UNAVAILABLE, "no socket for jaild: %s",
			strerror(-r));
		return r;
	}
	arguments_make(options, argv);
	r = program_start(&(struct program_request){ .program = program ? program : found,
				  .argv = argv,
				  .stdout_fd = -1,
				  .socket_fd = pair[1],
				  .has_own_session = true },
		&jaild->pid);
	(void)fd_close(pair[1]);
	jaild->fd = pair[0];
	if (r < 0) {
		jaild->fd = fd_close(jaild->fd);
		fault_set(&jaild->fault, FAULT_SANDBOX_UNAVAILABLE, "%s does not start: %s",
			program ? program : found, strerror(-r));
		return r;
	}
	jaild->pidfd = pidfd_open(jaild->pid, 0);
	return jaild_wait_ready(jaild);
}

void jaild_stop(struct jaild *jaild)
{
	struct pollfd pollfd = { .fd = jaild->pidfd, .events = POLLIN };
	int n;

	jaild->fd = fd_close(jaild->fd);
	if (jaild->pid <= 0)
		return;
	do
		n = jaild->pidfd < 0 ? 1 : poll(&pollfd, 1, JAILD_STOP_MS);
	while (n < 0 && errno == EINTR);
	/* One that does not go by itself is stuck: its death takes the pid namespace with it. */
	if (n <= 0)
		(void)kill(jaild->pid, SIGKILL);
	while (waitpid(jaild->pid, NULL, 0) < 0 && errno == EINTR)
		;
	jaild->pidfd = fd_close(jaild->pidfd);
	jaild->pid = 0;
}
