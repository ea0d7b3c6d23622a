/*
 * Theory of operation: jaild first. On cgroup v2 its launcher moves itself and us out of our group,
 * once, and a third process there would make that impossible; so the supervisor starts when
 * jaild's word has come, and inherits where we are then. The word itself is left unread: it is for
 * whoever gets the socket.
 */
#include "cli/up.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/str.h"
#include "jail/client/jaild.h"
#include "jail/client/program.h"
#include "wire/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#define ARGUMENTS_MAX 40

/* Starts a program of ours with one end of a socket as its descriptor 3. */
static int child_start(struct up_child *child, const char *name,
	const struct program_request *asked, struct fault *ret_fault)
{
	struct program_request request = *asked;
	char program[PATH_MAX];
	int pair[2], r = jaild_find_program(name, program, sizeof(program));

	if (r < 0) {
		fault_set(ret_fault, FAULT_SANDBOX_UNAVAILABLE,
			"%s is neither beside cloche nor in ../libexec/cloche", name);
		return r;
	}
	r = channel_pair(pair);
	if (r < 0) {
		fault_set(ret_fault, FAULT_SANDBOX_UNAVAILABLE, "no socket for %s: %s", name,
			strerror(-r));
		return r;
	}
	request.program = program;
	request.stdout_fd = -1;
	request.has_own_session = true;
	request.socket_fd = pair[1];
	r = program_start(&request, &child->pid);
	(void)fd_close(pair[1]);
	if (r < 0) {
		(void)fd_close(pair[0]);
		fault_set(ret_fault, FAULT_SANDBOX_UNAVAILABLE, "%s does not start: %s", name,
			strerror(-r));
		child->pid = 0;
		return r;
	}
	child->socket = pair[0];
	child->pidfd = pidfd_open(child->pid, 0);
	return 0;
}

int up_jaild_start(struct up *up, struct fault *ret_fault)
{
	const struct up_options *options = &up->options;
	const char *argv[16] = { "cloche-jaild", "--socket-fd", "3", "--log-level",
		options->settings.log_level };
	char max_runs[24];
	size_t n = 5;

	if (!options->is_cold) {
		(void)str_format(max_runs, sizeof(max_runs), "%llu",
			(unsigned long long)options->settings.zygote_max_runs);
		argv[n++] = "--zygotes";
		argv[n++] = max_runs;
	}

	if (options->settings.rootfs[0]) {
		argv[n++] = "--rootfs";
		argv[n++] = options->settings.rootfs;
	}
	if (options->is_host_unlimited)
		argv[n++] = "--unlimited-host";
	if (options->fail_stage) {
		argv[n++] = "--fail-stage";
		argv[n++] = options->fail_stage;
	}
	up->started_us = clock_now_us();
	return child_start(
		&up->jaild, "cloche-jaild", &(struct program_request){ .argv = argv }, ret_fault);
}

/* The supervisor must outlive its jails when the host is out of memory; only root may ask that. */
static void supervisor_protect(pid_t pid)
{
	char path[48];

	(void)str_format(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	(void)fd_write_file(AT_FDCWD, path, "-500");
}

/* Starts it with all settings as key=value. */
static int supervisor_spawn(struct up *up, struct fault *ret_fault)
{
	const char *argv[ARGUMENTS_MAX] = { "cloche-supervisor", "--control-fd", "3", "--store-fd",
		"4", "--secret-fd", "5" };
	const int fds[] = { up->state.store_fd, up->state.secret_fd };
	const struct program_request request = {
		.argv = argv, .fds = fds, .n_fds = ARRAY_SIZE(fds)
	};
	AUTO_FREE char *settings = xmalloc(ARGUMENTS_MAX * (size_t)(SETTING_TEXT_SIZE + 64));
	char value[SETTING_TEXT_SIZE], user[32];
	const char *key;
	size_t n = 7;
	int r;

	if (geteuid() == 0) {
		(void)str_format(
			user, sizeof(user), "%u:%u", up->state.user.uid, up->state.user.gid);
		argv[n++] = "--user";
		argv[n++] = user;
	}
	for (unsigned i = 0; settings_get(&up->options.settings, i, &key, value) == 0; i++) {
		char *word = settings + i * (size_t)(SETTING_TEXT_SIZE + 64);

		(void)str_format(word, SETTING_TEXT_SIZE + 64, "%s=%s", key, value);
		argv[n++] = word;
	}
	r = child_start(&up->supervisor, "cloche-supervisor", &request, ret_fault);
	if (r == 0)
		supervisor_protect(up->supervisor.pid);
	return r;
}

int up_tokens_send(const struct up *up)
{
	const struct control control = { .type = CONTROL_TOKENS };

	return channel_send(
		up->supervisor.socket, &control, sizeof(control), &up->state.token_fd, 1);
}

int up_audit_send(const struct up *up)
{
	const struct control control = { .type = CONTROL_AUDIT };

	return channel_send(
		up->supervisor.socket, &control, sizeof(control), &up->state.audit_fd, 1);
}

static int supervisor_start(struct up *up, struct fault *ret_fault)
{
	const struct control start = { .type = CONTROL_START, .owner_uid = getuid() };
	const struct control known = { .type = CONTROL_KNOWN };
	int fds[1 + CONTROL_LISTENERS_MAX] = { up->state.audit_fd };
	int r = supervisor_spawn(up, ret_fault);

	if (r < 0)
		return r;
	memcpy(fds + 1, up->listeners, up->n_listeners * sizeof(fds[0]));
	r = channel_send(up->supervisor.socket, &start, sizeof(start), fds, 1 + up->n_listeners);
	if (r == 0)
		r = channel_send(up->supervisor.socket, &known, sizeof(known), &up->known_fd, 1);
	if (r == 0)
		r = up_tokens_send(up);
	if (r < 0)
		fault_set(ret_fault, FAULT_SANDBOX_UNAVAILABLE,
			"cloche-supervisor does not listen: %s", strerror(-r));
	return r;
}

int up_jaild_hand_on(struct up *up, struct fault *ret_fault)
{
	const struct control control = { .type = CONTROL_JAILD };
	int r = up->supervisor.pid ? 0 : supervisor_start(up, ret_fault);

	if (r < 0)
		return r;
	r = channel_send(up->supervisor.socket, &control, sizeof(control), &up->jaild.socket, 1);
	if (r < 0)
		fault_set(ret_fault, FAULT_SANDBOX_UNAVAILABLE,
			"cloche-supervisor does not listen: %s", strerror(-r));
	up->jaild.socket = fd_close(up->jaild.socket);
	return r;
}

void up_child_reap(struct up_child *child)
{
	while (child->pid && waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	child->pid = 0;
	child->pidfd = fd_close(child->pidfd);
	child->socket = fd_close(child->socket);
}
