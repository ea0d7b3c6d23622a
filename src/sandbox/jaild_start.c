/*
 * Theory of operation: the launcher is started by posix_spawn, which is safe beside threads, with
 * nothing of ours but stderr (for its remedies) and the socket as descriptor 3: a fixed
 * environment, /dev/null for stdin and stdout, default signals. It gets a session of its own, so
 * that Ctrl-C in a terminal reaches us alone: we cancel the run, jaild reports its end, and the
 * answer is whole.
 *
 * The end: closing the socket is the order to stop. The launcher lives until jaild's pid namespace
 * is empty and its cgroups are removed, so waiting for it by pidfd means that nothing is left.
 */
#include "base/fd.h"
#include "base/str.h"
#include "sandbox/jaild.h"
#include "wire/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOCKET_FD 3

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

static int actions_fill(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int fd)
{
	sigset_t all, none;
	int r;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	r = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(
			actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, fd, SOCKET_FD);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attributes, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attributes, &none);
	if (r == 0)
		r = posix_spawnattr_setflags(attributes,
			POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	return r;
}

/* Starts the program with descriptor fd as its socket. Returns 0 or -errno. */
static int spawn(const char *program, const char *const argv[], int fd, pid_t *ret_pid)
{
	static const char *const environment[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:"
						   "/usr/bin:/sbin:/bin",
		"LANG=C.UTF-8", NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0)
		return -r;
	r = posix_spawnattr_init(&attributes);
	if (r == 0) {
		r = actions_fill(&actions, &attributes, fd);
		if (r == 0)
			r = posix_spawn(ret_pid, program, &actions, &attributes,
				(char **)(uintptr_t)argv, (char **)(uintptr_t)environment);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return -r;
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
	r = spawn(program ? program : found, argv, pair[1], &jaild->pid);
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
