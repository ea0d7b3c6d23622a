#include "cli/up_listen.h"

#include "base/fault.h"
#include "base/fd.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define BACKLOG 1024 /* as many as the gate lets wait; the kernel may allow fewer */

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* Splits at the last ':', reads both. False if it is no address of this kind. */
static bool address_parse(const char *text, union address *address, socklen_t *ret_size)
{
	const char *colon = strrchr(text, ':');
	char host[64];
	uint64_t port;

	*address = (union address){ 0 };
	if (!colon || str_to_u64(str_from(colon + 1), UINT16_MAX, &port) < 0 ||
		str_format(host, sizeof(host), "%.*s", (int)(colon - text), text) < 0)
		return false;
	if (strcmp(host, "[::1]") == 0) {
		address->in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
			.sin6_port = htons((uint16_t)port),
			.sin6_addr = in6addr_loopback };
		*ret_size = sizeof(address->in6);
		return true;
	}
	if (strcmp(host, "localhost") == 0)
		(void)str_copy(host, sizeof(host), "127.0.0.1");
	address->in.sin_family = AF_INET;
	address->in.sin_port = htons((uint16_t)port);
	*ret_size = sizeof(address->in);
	return inet_pton(AF_INET, host, &address->in.sin_addr) == 1 &&
	       ntohl(address->in.sin_addr.s_addr) >> 24 == 127;
}

static int port_get(int fd, uint16_t *ret_port)
{
	union address address = { 0 };
	socklen_t size = sizeof(address);

	if (getsockname(fd, &address.any, &size) < 0)
		return -errno;
	*ret_port = ntohs(
		address.any.sa_family == AF_INET6 ? address.in6.sin6_port : address.in.sin_port);
	return 0;
}

static int address_listen(const union address *address, socklen_t size, int *ret_fd)
{
	AUTO_CLOSE int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, &address->any, size) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int up_listen_tcp(const char *text, int *ret_fd, uint16_t *ret_port, struct fault *ret_fault)
{
	union address address;
	socklen_t size = 0;
	int r;

	if (!address_parse(text, &address, &size)) {
		fault_set_field(ret_fault, "listen",
			"listen: %s is no ADDRESS:PORT on loopback, such as 127.0.0.1:17600 or "
			"[::1]:17600",
			text);
		return -EINVAL;
	}
	r = address_listen(&address, size, ret_fd);
	if (r == 0)
		r = port_get(*ret_fd, ret_port);
	if (r == -EADDRINUSE)
		fault_set(ret_fault, FAULT_BAD_REQUEST,
			"listen: somebody listens on %s already; name another port, or 0 for any",
			text);
	else if (r < 0)
		fault_set(ret_fault, FAULT_BAD_REQUEST, "listen: %s: %s", text, strerror(-r));
	return r;
}

/* Binds through the folder's descriptor: a path of 108 bytes would be too short for many. */
static int unix_bind(int dir_fd, int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int r = str_format(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
		dir_fd, UP_SOCKET_NAME);

	if (r < 0)
		return r;
	if (unlinkat(dir_fd, UP_SOCKET_NAME, 0) < 0 && errno != ENOENT)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return fchmodat(dir_fd, UP_SOCKET_NAME, 0666, 0) < 0 ? -errno : 0;
}

int up_listen_unix(int dir_fd, int *ret_fd, struct fault *ret_fault)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r = fd < 0 ? -errno : unix_bind(dir_fd, fd);

	if (r == 0 && listen(fd, BACKLOG) < 0)
		r = -errno;
	if (r < 0) {
		fault_set(ret_fault, FAULT_BAD_REQUEST, UP_SOCKET_NAME ": %s", strerror(-r));
		return r;
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}
