/*
 * Theory of operation: posix_spawn is safe beside threads and in a large process, and tells a
 * failed exec. Descriptors of ours are all close-on-exec, so the child has what the actions give
 * it.
 */
#include "jail/client/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <unistd.h>

#define SOCKET_FD 3

static int actions_fill(posix_spawn_file_actions_t *actions, const struct program_request *request)
{
	int r = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (r == 0 && request->stdout_fd >= 0)
		r = posix_spawn_file_actions_adddup2(actions, request->stdout_fd, STDOUT_FILENO);
	if (r == 0 && request->stdout_fd < 0)
		r = posix_spawn_file_actions_addopen(
			actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (r == 0 && request->socket_fd >= 0)
		r = posix_spawn_file_actions_adddup2(actions, request->socket_fd, SOCKET_FD);
	for (size_t i = 0; r == 0 && i < request->n_fds; i++)
		r = posix_spawn_file_actions_adddup2(
			actions, request->fds[i], SOCKET_FD + 1 + (int)i);
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(actions,
			request->socket_fd >= 0 ? SOCKET_FD + 1 + (int)request->n_fds : SOCKET_FD);
	return r;
}

static int attributes_fill(posix_spawnattr_t *attributes, const struct program_request *request)
{
	short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	sigset_t all, none;
	int r;

	if (request->has_own_session)
		flags |= POSIX_SPAWN_SETSID;
	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	r = posix_spawnattr_setsigdefault(attributes, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attributes, &none);
	if (r == 0)
		r = posix_spawnattr_setflags(attributes, flags);
	return r;
}

int program_start(const struct program_request *request, pid_t *ret_pid)
{
	static const char *const environment[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
		NULL
	};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0)
		return -r;
	r = posix_spawnattr_init(&attributes);
	if (r == 0) {
		r = actions_fill(&actions, request);
		if (r == 0)
			r = attributes_fill(&attributes, request);
		if (r == 0)
			r = posix_spawn(ret_pid, request->program, &actions, &attributes,
				(char **)(uintptr_t)request->argv, (char **)(uintptr_t)environment);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return -r;
}
