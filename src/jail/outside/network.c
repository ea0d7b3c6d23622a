#include "jail/outside/network.h"

#include "base/fd.h"
#include "base/macro.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Theory of operation. A network namespace is the dearest part of a cell, to make and, in the
 * kernel's workers, to take down. The runs of one session follow each other, never side by side,
 * and each begins when the processes of the one before are dead; so they use one after the other.
 * What the kernel would keep beyond a socket's life is switched off or cut short (TIME_WAIT,
 * orphans) or harmless (counters); SECURITY.md has the list. An IPC namespace costs less, but as
 * much as all other namespaces of a cell; it goes the same way.
 *
 * A child makes it: by vfork, with our descriptors, in a user namespace of its own. There it has
 * all rights over the new namespace, which jaild does not need then; the user namespace outlives it
 * without a process, as the owner.
 */

#define CHILD_STACK 16384

struct order {
	int proc_fd;
	struct network made;
	int error; /* -errno */
};

/* Loopback is up so that programs which talk to themselves work; there is no other interface. */
static int loopback_up(int socket_fd)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

	return ioctl(socket_fd, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}

/* What the kernel keeps of a connection when its processes are gone. The way to the files goes by
 * the caller's own network.
 *
 * A script can have a socket drop all that comes (IP_MINTTL), so that neither end ever hears of the
 * other's: what they had in flight would lie in the kernel for minutes, charged to nobody. Nothing
 * is lost on loopback, so few tries are enough: one when the process is gone, and about 13 s
 * before, since the pause after the last try of a living one is waited for all the same. */
static int remains_forbid(int proc_fd)
{
	static const struct {
		const char *path, *value;
	} settings[] = {
		/* ports are free again when both ends are closed, as in a namespace that is new */
		{ "sys/net/ipv4/tcp_max_tw_buckets", "0" },
		{ "sys/net/ipv4/tcp_orphan_retries", "1" },
		{ "sys/net/ipv4/tcp_retries2", "5" },
		/* what ended connections have taught, in a table that is one for the host */
		{ "sys/net/ipv4/tcp_no_metrics_save", "1" },
		/* sent packets, kept for their times, are charged to nobody; kernels of old have
		 * this for the whole host alone */
		{ "sys/net/core/tstamp_allow_data", "0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		int r = fd_write_file(proc_fd, settings[i].path, settings[i].value);

		if (r < 0 && !(r == -ENOENT && i == ARRAY_SIZE(settings) - 1))
			return r;
	}
	return 0;
}

static int child_make(struct order *order)
{
	AUTO_CLOSE int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r;

	if (socket_fd < 0)
		return -errno;
	r = loopback_up(socket_fd);
	if (r == 0)
		r = remains_forbid(order->proc_fd);
	if (r < 0)
		return r;
	order->made.ipc_fd = openat(order->proc_fd, "self/ns/ipc", O_RDONLY | O_CLOEXEC);
	if (order->made.ipc_fd < 0)
		return -errno;
	order->made.fd = ioctl(socket_fd, SIOCGSKNS);
	return order->made.fd < 0 ? -errno : 0;
}

static int child(void *data)
{
	struct order *order = data;

	order->error = child_make(order);
	_exit(0);
}

void network_init(struct network *network)
{
	*network = (struct network){ -1, -1 };
}

void network_close(struct network *network)
{
	network->fd = fd_close(network->fd);
	network->ipc_fd = fd_close(network->ipc_fd);
}

int network_make(int proc_fd, struct network *ret_network)
{
	static _Alignas(16) char stack[CHILD_STACK];
	struct order order = { .proc_fd = proc_fd, .made = { -1, -1 }, .error = -ECHILD };
	pid_t pid = clone(child, stack + sizeof(stack),
		CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_VM | CLONE_VFORK | CLONE_FILES |
			SIGCHLD,
		&order);

	if (pid < 0)
		return -errno;
	if (waitpid(pid, NULL, 0) < 0)
		order.error = -errno;
	if (order.error < 0) {
		network_close(&order.made);
		return order.error;
	}
	*ret_network = order.made;
	return 0;
}
