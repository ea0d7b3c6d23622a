#include "spawned.h"

#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The least that a program can cost: posix_spawn(3) of glibc copies nothing (CLONE_VM and
 * CLONE_VFORK), this program is small, and so is its environment, which bench/run chooses. A word
 * "{}" in argv becomes another name for each start, since crun wants its containers named.
 */

#define WORDS_MAX 64

/* Starts argv with stdout and stderr as given (-1: /dev/null). Returns 0 or -errno. */
static int spawn(char *const argv[], const int out[2], pid_t *ret_pid)
{
	static unsigned starts;
	posix_spawn_file_actions_t actions;
	char *words[WORDS_MAX + 1];
	char name[32];
	size_t n = 0;
	int r;

	(void)str_format(name, sizeof(name), "bench-%d-%u", getpid(), starts++);
	for (; argv[n] && n < WORDS_MAX; n++)
		words[n] = strcmp(argv[n], "{}") == 0 ? name : argv[n];
	words[n] = NULL;
	r = posix_spawn_file_actions_init(&actions);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	for (int i = 0; i < 2 && r == 0; i++)
		r = out[i] < 0 ? posix_spawn_file_actions_addopen(
					 &actions, i + 1, "/dev/null", O_WRONLY, 0)
			       : posix_spawn_file_actions_adddup2(&actions, out[i], i + 1);
	if (r == 0)
		r = posix_spawn(ret_pid, words[0], &actions, NULL, words, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* Waits for pid, or for any child (-1). Returns its id, or -errno. */
static int wait_for(pid_t pid)
{
	int status;

	do
		pid = waitpid(pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	if (pid < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? (int)pid : -ECANCELED;
}

/* Reads both pipes to their end. */
static void drain(const int in[2])
{
	struct pollfd set[2] = { { .fd = in[0], .events = POLLIN },
		{ .fd = in[1], .events = POLLIN } };
	char chunk[4096];

	while (set[0].fd >= 0 || set[1].fd >= 0) {
		if (poll(set, ARRAY_SIZE(set), -1) < 0 && errno != EINTR)
			return;
		for (size_t i = 0; i < ARRAY_SIZE(set); i++) {
			if (set[i].revents && read(set[i].fd, chunk, sizeof(chunk)) <= 0)
				set[i].fd = -1;
		}
	}
}

static int run_with_pipes(char *const argv[])
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, pair[2];
	pid_t pid;
	int r = 0;

	for (int i = 0; i < 2 && r == 0; i++) {
		r = pipe2(pair, O_CLOEXEC) < 0 ? -errno : 0;
		if (r == 0) {
			in[i] = pair[0];
			out[i] = pair[1];
		}
	}
	if (r == 0)
		r = spawn(argv, out, &pid);
	for (int i = 0; i < 2; i++)
		out[i] = fd_close(out[i]);
	if (r == 0) {
		drain(in);
		r = wait_for(pid);
	}
	for (int i = 0; i < 2; i++)
		in[i] = fd_close(in[i]);
	return r;
}

int spawned_run(char *const argv[], bool has_pipes, usec_t *ret_us)
{
	static const int none[2] = { -1, -1 };
	usec_t start_us = clock_now_us();
	pid_t pid;
	int r;

	if (has_pipes) {
		r = run_with_pipes(argv);
	} else {
		r = spawn(argv, none, &pid);
		if (r == 0)
			r = wait_for(pid);
	}
	*ret_us = clock_now_us() - start_us;
	return r < 0 ? r : 0;
}

int spawned_run_many(char *const argv[], unsigned width, unsigned count, usec_t *ret_us)
{
	static const int none[2] = { -1, -1 };
	usec_t start_us = clock_now_us();
	unsigned running = 0;
	pid_t pid;
	int r = 0;

	while ((count > 0 && r >= 0) || running > 0) {
		int end = 0;

		if (count > 0 && r >= 0 && running < width) {
			r = spawn(argv, none, &pid);
			if (r < 0)
				continue;
			running++;
			count--;
			continue;
		}
		end = wait_for(-1);
		running--;
		r = end < 0 ? end : r;
	}
	*ret_us = clock_now_us() - start_us;
	return r < 0 ? r : 0;
}
