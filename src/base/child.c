#include "base/child.h"

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
