/* The parent waits in vfork, where it cannot be interrupted; the child stops itself and keeps it
 * there. */
#include <signal.h>
#include <unistd.h>

int main(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (vfork() == 0) {
		kill(getpid(), SIGSTOP);
		for (;;)
			pause();
	}
	return 0;
}
