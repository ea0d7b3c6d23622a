#include "jail/inside/warm.h"

#include "base/clock.h"
#include "jail/inside/identity.h"
#include "wire/channel.h"
#include "wire/message.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* init's end. All waits are bounded: a cell whose interpreter does not come executes one. */

/* While the process is on its way. One that dies, or whose zygote does, is heard of at once; so
 * this is for a zygote that hangs, and long enough for a machine on which fifty wait for a
 * processor: to execute the interpreter there, and what it imports, takes a hundred times the CPU.
 */
#define WARM_READY_MS 4000
/* From the run to its word that it goes on: it only connects its streams in between. */
#define WARM_STARTED_MS 5000

int warm_offer(int socket, const struct jail_plan *plan, int landlock_fd, int filter_fd)
{
	const int fds[] = { landlock_fd, filter_fd };

	return channel_send(socket, plan, sizeof(*plan), fds, 2);
}

/* One event within the time; -EPIPE for a hang-up and for INIT_FAILED. */
static int event_await(int socket, unsigned limit_ms, struct init_event *ret_event)
{
	usec_t until_us = clock_now_us() + limit_ms * 1000ULL;
	struct pollfd polled = { .fd = socket, .events = POLLIN };
	int fds[CHANNEL_FDS_MAX], left_ms, n;
	size_t n_fds;
	ssize_t size;

	do {
		usec_t now_us = clock_now_us();

		left_ms = now_us < until_us ? (int)((until_us - now_us) / 1000) + 1 : 0;
		n = poll(&polled, 1, left_ms);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : -ETIMEDOUT;
	size = channel_receive(socket, ret_event, sizeof(*ret_event), fds, &n_fds);
	if (size <= 0)
		return -EPIPE;
	channel_close_fds(fds, n_fds);
	if (size != sizeof(*ret_event) || ret_event->kind == INIT_FAILED)
		return -EPIPE;
	return 0;
}

/* The pid is the process's own word: believed if it is a living child of ours. */
static bool is_child(pid_t pid)
{
	siginfo_t info = { 0 };

	return pid > 1 &&
	       syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL) == 0 &&
	       info.si_pid == 0;
}

pid_t warm_start(int socket, const struct jail_run *run, const int *fds)
{
	struct init_event event;
	pid_t pid;
	int r;

	if (event_await(socket, WARM_READY_MS, &event) < 0 || event.kind != INIT_READY)
		return 0;
	pid = event.status;
	if (!is_child(pid))
		return 0;
	r = identity_hide();
	if (r < 0)
		return r;
	if (channel_send(socket, run, sizeof(*run), fds, WIRE_RUN_FDS) < 0)
		return 0;
	r = event_await(socket, WARM_STARTED_MS, &event);
	if (r == -EPIPE)
		return 0; /* it has died, or could not; the script has not begun */
	if (r == 0 && event.kind != INIT_STARTED)
		r = -EPROTO;
	return r < 0 ? r : pid;
}
