#include "jail/outside/maker.h"

#include "base/child.h"
#include "base/fd.h"
#include "jail/outside/filter.h"
#include "jail/outside/oom_score.h"
#include "jail/plan/maker.h"
#include "wire/channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A maker needs less than a millisecond, on a busy machine some; one that hangs is ended. All of
 * jaild waits for it. */
#define ANSWER_LIMIT_S 1

/* One that is killed is gone in less than a millisecond, unless the kernel holds it up; all of
 * jaild waits here too. */
#define END_LIMIT_MS 100

/* As many cells have the same layout in memory; a new maker costs about a cell. */
#define MAKER_CELLS_MAX 256

_Static_assert(CGROUP_TASKS_MAX <= MAKER_TASKS_MAX, "room for a cell's groups");
_Static_assert(MAKER_FDS_MAX <= CHANNEL_FDS_MAX, "one message");

int maker_filters_make(struct maker_filters *ret)
{
	int r = filter_make_script(FILTER_BASE, &ret->base_fd, &ret->base_count);

	if (r == 0)
		r = filter_make_script(FILTER_REST, &ret->rest_fd, &ret->rest_count);
	return r == 0 && ret->rest_count > MAKER_REST_MAX ? -E2BIG : r;
}

void maker_init(struct maker *maker)
{
	*maker = (struct maker){ .socket = -1, .pidfd = -1 };
}

/* The cells that it has made are ours and go on. One that does not end in time is left to whoever
 * waits for orphans. */
static void maker_end(struct maker *maker)
{
	(void)fd_close(maker->socket);
	if (maker->pidfd >= 0)
		(void)child_end_within(maker->pidfd, END_LIMIT_MS);
	(void)fd_close(maker->pidfd);
	maker_init(maker);
}

static int plan_send(int socket, const struct maker_base *base)
{
	const struct maker_plan plan = { .magic = MAKER_MAGIC,
		.base_count = base->filters->base_count,
		.rest_count = base->filters->rest_count };
	const int fds[MAKER_PLAN_FDS] = { [MAKER_PLAN_NETWORK] = base->own.fd,
		[MAKER_PLAN_IPC] = base->own.ipc_fd,
		[MAKER_PLAN_BASE] = base->filters->base_fd,
		[MAKER_PLAN_REST] = base->filters->rest_fd };

	return channel_send(socket, &plan, sizeof(plan), fds, MAKER_PLAN_FDS);
}

int maker_start(struct maker *maker, const struct maker_base *base)
{
	const struct timeval limit = { .tv_sec = ANSWER_LIMIT_S };
	struct spawn spawn = base->spawn;
	int sockets[2], r;

	r = channel_pair(sockets);
	if (r < 0)
		return r;
	spawn.control_fd = sockets[1];
	maker->pid = 0; /* any */
	r = setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0
		    ? -errno
		    : spawn_init(&spawn, SPAWN_MAKER, &maker->pid, &maker->pidfd);
	(void)fd_close(sockets[1]);
	if (r < 0) {
		(void)fd_close(sockets[0]);
		return r;
	}
	maker->socket = sockets[0];
	r = plan_send(maker->socket, base);
	if (r < 0)
		maker_end(maker);
	return r;
}

/* What goes along with an order. Returns how many. A group that cannot be opened is an error: no
 * cell is born outside of it. */
static int order_fill(const struct maker_cell *cell, struct maker_order *order, int *fds)
{
	struct cgroup_cell *cgroup = cell->cgroup;
	int n = MAKER_FD_GROUPS;
	int r = cgroup_cell_hold(cell->cgroups, cgroup);

	if (r < 0)
		return r;
	fds[MAKER_FD_CONTROL] = cell->control_fd;
	fds[MAKER_FD_NETWORK] = cell->network->fd;
	fds[MAKER_FD_IPC] = cell->network->ipc_fd;
	if (cgroup->leaf_fd >= 0)
		fds[n++] = cgroup->leaf_fd;
	for (int i = 0; i < cgroup->n_tasks; i++)
		fds[n++] = cgroup->task_fds[i];
	order->has_leaf = cgroup->leaf_fd >= 0;
	order->n_tasks = (uint32_t)cgroup->n_tasks;
	return n;
}

/* -EPIPE when it has gone, says nothing, or is not to be believed any more. */
static int answer_take(const struct maker *maker, pid_t *ret_pid)
{
	struct maker_answer answer;
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;
	ssize_t n = channel_receive(maker->socket, &answer, sizeof(answer), fds, &n_fds);

	if (n > 0)
		channel_close_fds(fds, n_fds);
	if (n != sizeof(answer) || answer.magic != MAKER_MAGIC || answer.pid == 0)
		return -EPIPE;
	if (answer.pid < 0)
		return answer.pid;
	*ret_pid = answer.pid;
	return 0;
}

/* The pid is a child of ours that nobody has waited for: it cannot be another's meanwhile. */
static int child_open(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

struct message {
	struct maker_order order;
	int fds[MAKER_FDS_MAX];
	size_t n_fds;
};

static int order_place(struct maker *maker, const struct message *message, pid_t *ret_pid)
{
	int r = channel_send(maker->socket, &message->order, sizeof(message->order), message->fds,
		message->n_fds);

	if (r == 0)
		r = answer_take(maker, ret_pid);
	if (r == 0)
		maker->cells++;
	if (r != -EPIPE && r != -ECONNRESET)
		return r;
	maker_end(maker);
	return -EPIPE;
}

int maker_need(struct maker *maker, const struct maker_base *base)
{
	if (maker->cells >= MAKER_CELLS_MAX)
		maker_end(maker);
	return maker->socket < 0 ? maker_start(maker, base) : 0;
}

int maker_score(struct maker *maker, int proc_fd, int score)
{
	int r = maker->score == score ? 0 : oom_score_set(proc_fd, maker->pid, score);

	if (r == 0)
		maker->score = score;
	return r == -ENOENT || r == -ESRCH ? 0 : r; /* it has gone: its socket will say so */
}

int maker_make(struct maker *maker, const struct maker_cell *cell, pid_t *ret_pid, int *ret_pidfd)
{
	struct message message = { .order = { .magic = MAKER_MAGIC } };
	int r = order_fill(cell, &message.order, message.fds);

	if (r < 0)
		return r;
	message.n_fds = (size_t)r;
	r = order_place(maker, &message, ret_pid);
	if (r < 0)
		return r;
	*ret_pidfd = child_open(*ret_pid);
	return *ret_pidfd < 0 ? *ret_pidfd : 0;
}
