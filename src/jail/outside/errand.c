#include "jail/outside/errand.h"

#include "base/fd.h"
#include "wire/channel.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

int errand_start(struct errand *ret_errand)
{
	int sockets[2], r;
	pid_t pid;

	r = channel_pair(sockets);
	if (r < 0)
		return r;
	pid = fork();
	r = pid < 0 ? -errno : 0;
	(void)fd_close(sockets[pid == 0 ? 0 : 1]);
	if (r < 0) {
		(void)fd_close(sockets[0]);
		return r;
	}
	*ret_errand = (struct errand){ .pid = pid, .socket = sockets[pid == 0 ? 1 : 0] };
	return 0;
}

void errand_tell(int socket, int result, int fd)
{
	(void)channel_send(socket, &result, sizeof(result), &fd, result == 0 && fd >= 0 ? 1 : 0);
}

int errand_result(const struct errand *errand, int *ret_fd)
{
	int fds[CHANNEL_FDS_MAX], result;
	size_t n_fds;
	ssize_t n;

	n = channel_receive(errand->socket, &result, sizeof(result), fds, &n_fds);
	if (n < 0)
		return (int)n;
	if (n != sizeof(result) || result > 0 || n_fds != (result == 0 && ret_fd ? 1 : 0)) {
		channel_close_fds(fds, n_fds);
		return -EPROTO;
	}
	if (result == 0 && ret_fd)
		*ret_fd = fds[0];
	return result;
}

void errand_end(struct errand *errand)
{
	errand->socket = fd_close(errand->socket);
	(void)waitpid(errand->pid, NULL, 0);
}
