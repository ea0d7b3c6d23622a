#include "init/children.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

int children_open(void)
{
	sigset_t children;
	int fd;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	if (sigprocmask(SIG_SETMASK, &children, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void children_heard(int signal_fd)
{
	struct signalfd_siginfo info;

	while (read(signal_fd, &info, sizeof(info)) > 0)
		continue;
}

static uint64_t time_us(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

bool children_reap(pid_t script, struct init_event *event)
{
	bool is_over = false;
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		uint64_t rss = (uint64_t)usage.ru_maxrss * 1024;

		event->cpu_us += time_us(&usage.ru_utime) + time_us(&usage.ru_stime);
		if (rss > event->max_rss_bytes)
			event->max_rss_bytes = rss;
		if (pid == script) {
			event->kind = INIT_EXITED;
			event->status = status;
			is_over = true;
		}
	}
	return is_over;
}
