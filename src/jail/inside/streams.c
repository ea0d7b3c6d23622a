#include "jail/inside/streams.h"

#include "base/fd.h"
#include "wire/message.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The client's /dev/null would be the host's own: a script could lock it or set its times. The
 * cell's is on a read-only mount, which a device may be written on all the same. */
static int null_connect(int fd, int stream)
{
	struct stat status;
	int null_fd, r;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISCHR(status.st_mode))
		return 0;
	null_fd = open("/dev/null", (stream == STDIN_FILENO ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
	if (null_fd < 0)
		return -errno;
	r = dup2(null_fd, fd) < 0 ? -errno : 0;
	(void)fd_close(null_fd);
	return r;
}

int streams_connect(const int *fds, bool has_report)
{
	for (int i = 0; i < 3; i++) {
		int r = null_connect(fds[WIRE_RUN_STDIN + i], i);

		if (r < 0)
			return r;
		if (dup2(fds[WIRE_RUN_STDIN + i], i) < 0)
			return -errno;
	}
	if (has_report && dup2(fds[WIRE_RUN_REPORT], SCRIPT_REPORT_FD) < 0)
		return -errno;
	return 0;
}
