#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "jaild/cell/cell.h"
#include "jaild/session.h"
#include "jaild/spares/walk.h"
#include "jaild/zygote/zygote_life.h"
#include "wire/channel.h"

#include <errno.h>

/* A copy takes milliseconds; on a busy machine more. */
#define ANSWER_LIMIT_US (10 * 1000 * 1000ULL)
/* Copies under way. Waiting for the last of them is still far cheaper than to execute what they
 * have loaded: with 16, fifty charts at once took 31 s, and take 6. */
#define UNDER_WAY_MAX 64

static void on_answer_limit(struct timer *timer)
{
	zygote_doubt(container_of(timer, struct zygote, timer), STAGE_WARM_REQUEST, -ETIMEDOUT);
}

static void answered(struct zygote *zygote, const struct zygote_event *event)
{
	struct zygote_place *place = zygote->place;
	struct loop *loop = &place->jaild->loop;

	/* in order, and no more than were asked for */
	if (zygote->answered == zygote->asked || event->seq != zygote->answered) {
		zygote_doubt(zygote, STAGE_WARM_REQUEST, -EPROTO);
		return;
	}
	zygote->answered++;
	if (event->error > 0) {
		/* the cell may have ended meanwhile: not the zygote's fault */
		place->stage = event->stage < STAGE_MAX ? event->stage : STAGE_NONE;
		place->error = event->error;
		log_info("msg=\"no interpreter for a cell\" stage=%s error=%d",
			LOG_VALUE(stage_name(place->stage)), place->error);
	}
	loop_timer_clear(loop, &zygote->timer);
	if (zygote->answered < zygote->asked)
		loop_timer_set(loop, &zygote->timer, ANSWER_LIMIT_US, on_answer_limit);
}

/* cloche-init, on its way to become the zygote, speaks as it does in a cell. */
union said {
	struct zygote_event event;
	struct init_event failure;
};

static void said(struct zygote *zygote, const union said *what, ssize_t n)
{
	const struct zygote_event *event = &what->event;

	if (n == sizeof(what->failure) && what->failure.kind == INIT_BORN && !zygote->serves)
		return;
	if (n == sizeof(what->failure) && what->failure.kind == INIT_FAILED && !zygote->serves) {
		enum stage stage =
			what->failure.stage < STAGE_MAX ? what->failure.stage : STAGE_NONE;

		zygote_doubt(zygote, stage, what->failure.error > 0 ? -what->failure.error : -EIO);
	} else if (n != sizeof(*event) || event->magic != ZYGOTE_MAGIC) {
		zygote_doubt(zygote, STAGE_ZYGOTE_SERVES, -EBADMSG);
	} else if (event->kind == ZYGOTE_SERVES && !zygote->serves) {
		if (event->error != 0)
			zygote_doubt(zygote, STAGE_ZYGOTE_SERVES, -EMFILE);
		else
			zygote_serves(zygote, event);
	} else if (event->kind == ZYGOTE_ANSWER && zygote->serves) {
		answered(zygote, event);
	} else {
		zygote_doubt(zygote, STAGE_ZYGOTE_SERVES, -EPROTO);
	}
}

bool zygote_listen(struct zygote *zygote)
{
	int fds[CHANNEL_FDS_MAX];
	union said what;
	size_t n_fds;
	ssize_t n = channel_receive(zygote->fd, &what, sizeof(what), fds, &n_fds);

	if (n == -EAGAIN)
		return false;
	if (n <= 0) {
		zygote_doubt(zygote, zygote->serves ? STAGE_ZYGOTE_SERVES : STAGE_ZYGOTE_EXEC,
			n < 0 ? (int)n : -EPIPE);
		return false;
	}
	channel_close_fds(fds, n_fds);
	said(zygote, &what, n);
	return true;
}

void zygote_on_control(struct watch *watch)
{
	(void)zygote_listen(container_of(watch, struct zygote, control));
}

/* The descriptors of a request. Returns how many; those from ZYGOTE_FD_CGROUPS on are to be
 * closed. */
static int request_fill(const struct cgroup_root *cgroups, const struct zygote_cell *cell,
	struct zygote_request *request, int *fds)
{
	int n = ZYGOTE_FD_CGROUPS, leaf_fd = -1, n_tasks;
	int r = cgroup_cell_open(cgroups, cell->cgroup, &leaf_fd);

	if (r < 0)
		return r;
	fds[ZYGOTE_FD_PIDFD] = cell->pidfd;
	fds[ZYGOTE_FD_SOCKET] = cell->socket;
	if (leaf_fd >= 0)
		fds[n++] = leaf_fd;
	n_tasks = cgroup_cell_tasks_open(cgroups, cell->cgroup, fds + n);
	if (n_tasks < 0) {
		(void)fd_close(leaf_fd);
		return n_tasks;
	}
	request->has_leaf = leaf_fd >= 0;
	request->n_tasks = (uint32_t)n_tasks;
	return n + n_tasks;
}

/* It has made its number of copies: another one is begun, and this one goes on until that serves.
 */
static void age_check(struct zygote *zygote)
{
	struct zygote_place *place = zygote->place;

	if (zygote->asked >= place->jaild->nursery.max_runs && !place->coming &&
		place->retry.due_us == 0)
		zygote_begin(place);
}

static int request_send(struct jaild *jaild, struct zygote *zygote, const struct zygote_cell *cell)
{
	struct zygote_request request = { .magic = ZYGOTE_MAGIC, .seq = zygote->asked };
	int fds[ZYGOTE_REQUEST_FDS];
	int n = request_fill(&jaild->cgroups, cell, &request, fds);
	int r;

#ifdef CLOCHE_FAULT_INJECTION
	request.stage_to_fail = stage_to_fail;
#endif
	if (n < 0)
		return n;
	r = channel_send(zygote->fd, &request, sizeof(request), fds, (size_t)n);
	channel_close_fds(fds + ZYGOTE_FD_CGROUPS, (size_t)n - ZYGOTE_FD_CGROUPS);
	return r;
}

int zygote_ask(struct jaild *jaild, enum zygote_kind kind, const struct zygote_cell *cell)
{
	struct zygote_place *place = &jaild->nursery.places[kind];
	struct zygote *zygote = place->serving;
	int r;

	if (!zygote || zygote->asked - zygote->answered >= UNDER_WAY_MAX)
		return -EAGAIN;
	r = STAGE_TRY(STAGE_WARM_REQUEST, request_send(jaild, zygote, cell));
	if (r < 0)
		return r;
	zygote->asked++;
	place->copies++;
	if (zygote->timer.due_us == 0)
		loop_timer_set(&jaild->loop, &zygote->timer, ANSWER_LIMIT_US, on_answer_limit);
	age_check(zygote);
	return 0;
}

static bool is_cells(const struct cell *cell, pid_t pid)
{
	return cell && cell->pid == pid && !cell->is_dead;
}

bool child_is_known(const struct jaild *jaild, pid_t pid)
{
	for (const struct session *session = jaild->sessions; session; session = session->next) {
		if (is_cells(session->cell, pid) || is_cells(session->spare, pid) ||
			is_cells(session->live.cell, pid))
			return true;
		if (session->walk && session->walk->pid == pid)
			return true;
	}
	if (jaild->walkers.pid == pid)
		return true;
	for (unsigned i = 0; i < ZYGOTE_KINDS; i++) {
		const struct zygote_place *place = &jaild->nursery.places[i];

		if ((place->serving && place->serving->pid == pid) ||
			(place->coming && place->coming->pid == pid))
			return true;
	}
	/* a zygote that was retired is waited for by its pidfd: that finds nobody then, and is fine
	 */
	return false;
}
