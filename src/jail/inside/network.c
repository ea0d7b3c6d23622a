#include "jail/inside/network.h"

#include "base/fd.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* Loopback is up so that programs which talk to themselves work; there is no other interface. */

int network_loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	AUTO_CLOSE int fd = -1;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return -errno;
	return 0;
}
