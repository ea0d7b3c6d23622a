#include "launch/doctor.h"

#include "base/fd.h"
#include "base/str.h"
#include "launch/launcher.h"
#include "wire/channel.h"
#include "wire/message.h"
#include "wire/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The whole way of a start, as cloche run goes it, up to jaild's "ready". */

/* The launcher's own words, if it has any, are the best: "cloche: CAUSE: REMEDY", or a remedy
 * alone.
 */
static void words_read(int fd, struct finding *ret)
{
	char line[sizeof(ret->remedy)], cause[sizeof(ret->cause)];
	ssize_t n = read(fd, line, sizeof(line) - 1);
	struct str words, first, rest;

	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (char *p = line; *p; p++)
		*p = *p == '\t' ? ' ' : *p;
	words = str_from(line);
	if (str_split_once(words, ':', &first, &rest) && str_starts(rest, STR(" ")))
		words = str_trim(rest);
	if (str_split_once(words, ':', &first, &rest) && str_starts(rest, STR(" "))) {
		(void)str_copy(cause, sizeof(cause), ret->cause);
		if (str_format(ret->cause, sizeof(ret->cause), "%s: %.*s", cause, STR_ARG(first)) <
			0)
			(void)str_copy(ret->cause, sizeof(ret->cause), cause);
		words = str_trim(rest);
	}
	if (!str_starts(words, STR("see cloche doctor"))) /* this is it */
		(void)str_format(ret->remedy, sizeof(ret->remedy), "%.*s", STR_ARG(words));
}

static void answer_read(int socket, struct finding *ret)
{
	union wire_any message;
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;
	ssize_t n = channel_receive(socket, &message, sizeof(message), fds, &n_fds);

	channel_close_fds(fds, n_fds);
	if (n <= 0 || wire_check(&message, (size_t)n, 0) < 0)
		(void)str_copy(ret->cause, sizeof(ret->cause), "jaild ended without a word");
	else if (message.header.type == WIRE_FAILED)
		(void)str_format(ret->cause, sizeof(ret->cause), "cannot %s: %s",
			stage_name(message.failed.stage), strerror(message.failed.error));
	else
		ret->is_ok = message.header.type == WIRE_DONE;
}

void doctor_start(const struct options *options, struct finding *ret)
{
	struct options start = *options;
	int sockets[2], words[2];
	pid_t pid;

	if (channel_pair(sockets) < 0 || pipe2(words, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		(void)fd_close(sockets[0]);
		(void)dup2(words[1], STDERR_FILENO);
		start.socket_fd = sockets[1];
		_exit(launcher_run(&start));
	}
	(void)fd_close(sockets[1]);
	(void)fd_close(words[1]);
	answer_read(sockets[0], ret);
	(void)fd_close(sockets[0]);
	(void)waitpid(pid, NULL, 0);
	if (!ret->is_ok)
		words_read(words[0], ret);
	if (!ret->is_ok && !ret->remedy[0])
		(void)str_copy(ret->remedy, sizeof(ret->remedy),
			"mend what fails above; on an initramfs, switch_root to a real root first");
	(void)fd_close(words[0]);
}
