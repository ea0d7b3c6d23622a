/*
 * `cloche up`: the service on this machine. Opens what needs rights or names (state directory,
 * sockets), starts jaild and the supervisor, keeps them running, and ends with both of them.
 */
#include "cli/up.h"

#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/base/exit.h"
#include "cli/base/image_dir.h"
#include "cli/base/say.h"
#include "cli/command.h"
#include "cli/up_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>

/* SIGHUP means two things. To a program of a terminal: the terminal is gone, end; unless somebody
 * has it ignored (nohup). To a daemon: open your logs anew. */
static bool ends_by_hangup(void)
{
	AUTO_CLOSE int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct sigaction action;

	return terminal >= 0 && sigaction(SIGHUP, NULL, &action) == 0 &&
	       action.sa_handler != SIG_IGN;
}

static int signals_take(int *ret_fd)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	*ret_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_fd < 0 ? -errno : 0;
}

/* Watches the state directory for tokens that others write: cloche token. */
static int inotify_take(const char *path, int *ret_fd)
{
	*ret_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (*ret_fd < 0)
		return -errno;
	return inotify_add_watch(*ret_fd, path, IN_MOVED_TO | IN_CLOSE_WRITE) < 0 ? -errno : 0;
}

/* What supervisors leave to each other (turns/known.h). It cannot shrink under whoever maps it. */
static int known_make(int *ret_fd)
{
	*ret_fd = memfd_create("known", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*ret_fd < 0 || ftruncate(*ret_fd, CONTROL_KNOWN_SIZE) < 0)
		return -errno;
	return fcntl(*ret_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0 ? -errno
											  : 0;
}

static int listeners_open(struct up *up, struct fault *ret_fault)
{
	const char *listen = up->options.settings.listen;
	uint16_t port = 0;
	int r = up_listen_unix(up->state.dir_fd, &up->listeners[0], ret_fault);

	if (r < 0)
		return r;
	up->n_listeners = 1;
	if (strcmp(listen, "none") == 0)
		return str_format(up->address, sizeof(up->address), "unix:%s/%s", up->options.state,
			UP_SOCKET_NAME);
	r = up_listen_tcp(listen, &up->listeners[1], &port, ret_fault);
	if (r < 0)
		return r;
	up->n_listeners = 2;
	return str_format(up->address, sizeof(up->address), "http://%.*s:%u",
		(int)(strrchr(listen, ':') - listen), listen, port);
}

/* Opens all that up holds. Returns 0 or an exit status. */
static int open_all(struct up *up)
{
	struct fault fault = { 0 };
	int r = up_state_open(up->options.state, &up->state, &fault);

	if (r == 0)
		r = listeners_open(up, &fault);
	if (r < 0) {
		say("%s", fault.text);
		return fault.code == FAULT_INVALID_FIELD ? EXIT_USAGE : EXIT_OURS;
	}
	r = image_begin(up->options.settings.rootfs, &up->image_fd);
	if (r != 0)
		return r;
	up->ends_by_hangup = ends_by_hangup();
	r = signals_take(&up->signal_fd);
	if (r == 0)
		r = inotify_take(up->options.state, &up->inotify_fd);
	if (r == 0)
		r = known_make(&up->known_fd);
	if (r < 0) {
		say("cannot start: %s", strerror(-r));
		return EXIT_OURS;
	}
	return 0;
}

static void close_all(struct up *up)
{
	if (up->n_listeners > 0)
		(void)unlinkat(up->state.dir_fd, UP_SOCKET_NAME, 0);
	for (size_t i = 0; i < up->n_listeners; i++)
		(void)fd_close(up->listeners[i]);
	(void)fd_close(up->signal_fd);
	(void)fd_close(up->inotify_fd);
	(void)fd_close(up->known_fd);
	(void)fd_close(up->image_fd);
	up_state_close(&up->state);
}

int cli_up(int argc, char **argv)
{
	static struct up up = { .state = UP_STATE_INIT,
		.signal_fd = -1,
		.inotify_fd = -1,
		.image_fd = -1,
		.known_fd = -1,
		.jaild = { .pidfd = -1, .socket = -1 },
		.supervisor = { .pidfd = -1, .socket = -1 } };
	int status = up_options_parse(argc, argv, &up.options);

	if (status != 0)
		return status;
	if (up.options.is_help) {
		(void)fputs(command_find("up")->usage, stdout);
		return 0;
	}
	(void)log_level_parse(up.options.settings.log_level, &log_level);
	log_drop_when_full(); /* nobody would start anew what has died */
	status = open_all(&up);
	if (status == 0) {
		up.deadline_us = clock_now_us() + UP_READY_US;
		status = up_watch(&up);
	}
	close_all(&up);
	return status;
}
