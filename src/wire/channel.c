#include "wire/channel.h"

#include "base/fd.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#ifndef SCM_PIDFD
#define SCM_PIDFD 4 /* Linux 6.5 */
#endif

/*
 * The control buffer has room for exactly CHANNEL_FDS_MAX descriptors. More than that sets
 * MSG_CTRUNC and the kernel drops the rest; the message is then refused as a whole, and those that
 * did arrive are closed.
 */

union control {
	char bytes[CMSG_SPACE(sizeof(int) * CHANNEL_FDS_MAX)];
	struct cmsghdr align;
};

int channel_pair(int ret_fds[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) < 0)
		return -errno;
	return 0;
}

int channel_send(int fd, const void *data, size_t size, const int *fds, size_t n_fds)
{
	union control control = { 0 };
	struct iovec part = { .iov_base = (void *)(uintptr_t)data, .iov_len = size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	if (n_fds > CHANNEL_FDS_MAX)
		return -EINVAL;
	if (n_fds > 0) {
		struct cmsghdr *header;

		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(header), fds, sizeof(int) * n_fds);
	}
	do
		n = sendmsg(fd, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* Takes all descriptors out of the control data. Returns 0, or -EBADMSG for control data that is
 * not descriptors: a peer can switch such on for our end, and some of it is a descriptor too. */
static int fds_take(struct msghdr *message, int *ret_fds, size_t *ret_n_fds)
{
	int result = 0;

	for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header;
		header = CMSG_NXTHDR(message, header)) {
		bool has_fds = header->cmsg_level == SOL_SOCKET &&
			       (header->cmsg_type == SCM_RIGHTS || header->cmsg_type == SCM_PIDFD);
		size_t n = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			result = -EBADMSG;
		if (!has_fds || *ret_n_fds + n > CHANNEL_FDS_MAX)
			continue;
		memcpy(ret_fds + *ret_n_fds, CMSG_DATA(header), n * sizeof(int));
		*ret_n_fds += n;
	}
	return result;
}

ssize_t channel_receive(
	int fd, void *data, size_t cap, int ret_fds[CHANNEL_FDS_MAX], size_t *ret_n_fds)
{
	union control control = { 0 };
	struct iovec part = { .iov_base = data, .iov_len = cap };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	ssize_t n;
	int r;

	*ret_n_fds = 0;
	for (size_t i = 0; i < CHANNEL_FDS_MAX; i++)
		ret_fds[i] = -1;
	do
		n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	r = fds_take(&message, ret_fds, ret_n_fds);
	if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		r = -EMSGSIZE;
	else if (n == 0 && *ret_n_fds > 0)
		r = -EBADMSG; /* looks like the end of the connection, and is not */
	if (r < 0) {
		channel_close_fds(ret_fds, *ret_n_fds);
		*ret_n_fds = 0;
		return r;
	}
	return n;
}

void channel_close_fds(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fds[i] = fd_close(fds[i]);
}
