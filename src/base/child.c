#include "base/child.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void child_end(int pidfd)
{
	siginfo_t info;

	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	(void)waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
}

bool child_end_within(int pidfd, int limit_ms)
{
	struct pollfd death = { .fd = pidfd, .events = POLLIN };
	siginfo_t info = { 0 };

	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	(void)poll(&death, 1, limit_ms);
	/* an error is ECHILD: somebody else has waited for it */
	return waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) < 0 || info.si_pid != 0;
}
