#include "jaild/spares/walkers.h"

#include "base/fd.h"
#include "base/macro.h"
#include "jaild/jaild.h"
#include "wire/channel.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Long enough for the answer to be on its way and read. */
#define DELAY_US (4 * 1000ULL)
/* After one that could not be made, or died: not again and again at full speed. */
#define RETRY_US (1000 * 1000ULL)

pid_t walkers_fork(int *ret_pidfd)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_PIDFD, .pidfd = (uintptr_t)&pidfd, .exit_signal = SIGCHLD
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0)
		return -errno;
	*ret_pidfd = pidfd;
	return (pid_t)pid;
}

static void on_due(struct timer *timer);

/* Forgets the one that waits. */
static void forget(struct jaild *jaild)
{
	struct walkers *walkers = &jaild->walkers;

	loop_unwatch(&jaild->loop, &walkers->death);
	walkers->fd = fd_close(walkers->fd);
	walkers->pidfd = fd_close(walkers->pidfd);
	walkers->pid = 0;
}

static void on_death(struct watch *watch)
{
	struct walkers *walkers = container_of(watch, struct walkers, death);
	struct jaild *jaild = container_of(walkers, struct jaild, walkers);

	(void)waitpid(walkers->pid, NULL, 0);
	forget(jaild);
	if (jaild->spares.wanted > 0)
		loop_timer_set(&jaild->loop, &walkers->timer, RETRY_US, on_due);
}

static int begin(struct jaild *jaild)
{
	struct walkers *walkers = &jaild->walkers;
	int pair[2], pidfd = -1, r = channel_pair(pair);
	pid_t pid;

	if (r < 0)
		return r;
	pid = walkers_fork(&pidfd);
	if (pid == 0)
		walker_wait(pair[1]);
	(void)fd_close(pair[1]);
	if (pid < 0) {
		(void)fd_close(pair[0]);
		return pid;
	}
	walkers->pid = pid;
	walkers->pidfd = pidfd;
	walkers->fd = pair[0];
	walkers->death.fd = -1;
	r = loop_watch(&jaild->loop, &walkers->death, pidfd, on_death);
	if (r < 0)
		forget(jaild); /* which hangs up, and it ends */
	return r;
}

static void on_due(struct timer *timer)
{
	struct walkers *walkers = container_of(timer, struct walkers, timer);
	struct jaild *jaild = container_of(walkers, struct jaild, walkers);

	/* listings go on without */
	if (jaild->spares.wanted > 0 && walkers->pid == 0 && begin(jaild) < 0)
		loop_timer_set(&jaild->loop, timer, RETRY_US, on_due);
}

void walkers_later(struct jaild *jaild)
{
	struct walkers *walkers = &jaild->walkers;

	if (jaild->spares.wanted == 0)
		walkers->fd = fd_close(walkers->pid != 0 ? walkers->fd : -1); /* it ends */
	else if (walkers->pid == 0 && walkers->timer.due_us == 0)
		loop_timer_set(&jaild->loop, &walkers->timer, DELAY_US, on_due);
}

int walkers_take(
	struct jaild *jaild, const struct walkers_work *work, pid_t *ret_pid, int *ret_pidfd)
{
	const int fds[] = { work->home_fd, work->listing_fd };
	struct walkers *walkers = &jaild->walkers;
	int r;

	if (walkers->pid == 0 || walkers->fd < 0)
		return -EAGAIN;
	r = channel_send(walkers->fd, &work->request, sizeof(work->request), fds, ARRAY_SIZE(fds));
	if (r < 0) /* it is dead, and waited for in a moment */
		return r;
	*ret_pid = walkers->pid;
	*ret_pidfd = TAKE_FD(walkers->pidfd);
	forget(jaild);
	return 0;
}
