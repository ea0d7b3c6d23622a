#include "jaild/zygote/zygote.h"

#include "base/alloc.h"
#include "base/child.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/str.h"
#include "jail/outside/oom_score.h"
#include "jail/outside/spawn.h"
#include "jail/plan/plan.h"
#include "jaild/jaild.h"
#include "jaild/zygote/zygote_life.h"
#include "wire/channel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The life of a zygote: begun, serving, retired (another one has taken its place, or it is in
 * doubt) and dead. Every way out is SIGKILL and the wait for its death. A new one is begun when the
 * last one has made so many copies that its layout and hash seed are due for a change, and, after a
 * growing pause, when one has failed.
 */

/* Loading everything from a cold disk takes long; a broken interpreter forever. */
#define START_LIMIT_US (60 * 1000 * 1000ULL)
#define RETRY_FIRST_US (500 * 1000ULL)
#define RETRY_LAST_US  (60 * 1000 * 1000ULL)

/* What the zygotes of a kind may have together. One has 18 and 70 MiB of Debian's Python, 27 and
 * 190 of the image's; twice that is for what it may yet come to, and there are two while one takes
 * the other's place. What the kernel needs for a copy as long as that lives, page tables above all,
 * is charged to whom it is a copy of: 0.17 and 0.5 MiB, one for each session. */
static const struct {
	uint64_t one_bytes;
	uint64_t copy_bytes;
} allowed[ZYGOTE_KINDS] = {
	[ZYGOTE_SMALL] = { .one_bytes = 64ULL << 20, .copy_bytes = 256ULL << 10 },
	[ZYGOTE_DATA] = { .one_bytes = 384ULL << 20, .copy_bytes = 768ULL << 10 },
};

/* Of a millisecond each. */
#define INIT_WAITS 100

#define ORPHANS_PAUSE_US     500ULL
#define ORPHANS_PAUSE_MAX_US (16 * 1000 * 1000ULL)

/* Zygotes' pids are from here on: far above those in a cell, so that a copy, whatever it asks its
 * pid for, sees that it is one (jail/outside/spawn.h). */
#define PID_FIRST 1000
#define PID_COUNT 8192

static const char *kind_name(enum zygote_kind kind)
{
	return kind == ZYGOTE_DATA ? "data" : "small";
}

static const char *group_name(enum zygote_kind kind)
{
	return kind == ZYGOTE_DATA ? "zygotes-data" : "zygotes-small";
}

/* A zygote that grows without end is to take neither jaild with it nor the host: its own group is
 * out of memory first. */
static int group_make(const struct zygote_place *place)
{
	const struct jaild *jaild = place->jaild;
	uint64_t limit_bytes = 2 * allowed[place->kind].one_bytes +
			       jaild->sessions_max * allowed[place->kind].copy_bytes;

	return cgroup_zygotes_make(&jaild->cgroups, group_name(place->kind), limit_bytes);
}

/* Whether the kernel has killed one of them for memory since the last look. */
static bool group_has_killed(struct zygote_place *place)
{
	uint64_t kills, before = place->kills;

	if (cgroup_kills(&place->jaild->cgroups, group_name(place->kind), &kills) == 0)
		place->kills = kills;
	return place->kills > before;
}

static void on_retry(struct timer *timer)
{
	struct zygote_place *place = container_of(timer, struct zygote_place, retry);

	if (!place->coming)
		zygote_begin(place);
}

/* Another start later: at once after the first failure since one has served. */
static void retry_set(struct zygote_place *place)
{
	usec_t pause = RETRY_FIRST_US;

	for (unsigned i = 0; i < place->failures && pause < RETRY_LAST_US; i++)
		pause *= 2;
	place->failures++;
	loop_timer_set(&place->jaild->loop, &place->retry, MIN(pause, RETRY_LAST_US), on_retry);
}

void nursery_reap(const struct jaild *jaild)
{
	siginfo_t info = { 0 };

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid > 0 &&
		!child_is_known(jaild, info.si_pid)) {
		(void)waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
		info.si_pid = 0;
	}
}

void nursery_end_init(const struct jaild *jaild, int pidfd)
{
	struct pollfd death = { .fd = pidfd, .events = POLLIN };

	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	for (int i = 0; i < INIT_WAITS && poll(&death, 1, 1) == 0; i++)
		nursery_reap(jaild);
	child_end(pidfd);
}

/* What goes with a zygote may die a while after it, and nothing tells of that: a run whose script
 * has ended would go on until its wall limit, as init waits for us. So we look in doubling pauses.
 */
static void on_orphans(struct timer *timer)
{
	struct nursery *nursery = container_of(timer, struct nursery, orphans);
	struct jaild *jaild = container_of(nursery, struct jaild, nursery);

	nursery_reap(jaild);
	nursery->orphans_pause_us *= 2;
	if (nursery->orphans_pause_us <= ORPHANS_PAUSE_MAX_US)
		loop_timer_set(
			&jaild->loop, &nursery->orphans, nursery->orphans_pause_us, on_orphans);
}

static void on_death(struct watch *watch)
{
	struct zygote *zygote = container_of(watch, struct zygote, death);
	struct zygote_place *place = zygote->place;
	struct jaild *jaild = place->jaild;
	siginfo_t info;

	while (!zygote->is_retired && zygote_listen(zygote)) /* its last words */
		continue;
	if (!zygote->is_retired)
		zygote_doubt(zygote, zygote->serves ? STAGE_ZYGOTE_SERVES : zygote->stage, -ECHILD);
	(void)waitid(P_PIDFD, (id_t)zygote->pidfd, &info, WEXITED | WNOHANG);
	loop_unwatch(&jaild->loop, &zygote->death);
	(void)fd_close(zygote->pidfd);
	free(zygote);
	jaild->nursery.orphans_pause_us = ORPHANS_PAUSE_US;
	on_orphans(&jaild->nursery.orphans);
}

void zygote_retire(struct zygote *zygote)
{
	struct zygote_place *place = zygote->place;
	struct loop *loop = &place->jaild->loop;

	zygote->is_retired = true;
	loop_timer_clear(loop, &zygote->timer);
	loop_unwatch(loop, &zygote->control);
	zygote->fd = fd_close(zygote->fd);
	if (place->serving == zygote)
		place->serving = NULL;
	if (place->coming == zygote)
		place->coming = NULL;
	(void)syscall(SYS_pidfd_send_signal, zygote->pidfd, SIGKILL, NULL, 0);
}

void zygote_doubt(struct zygote *zygote, enum stage stage, int error)
{
	struct zygote_place *place = zygote->place;
	bool is_memory = group_has_killed(place);

	if (is_memory)
		error = -ENOMEM;
	log_warning("msg=\"a zygote is given up\" kind=%s pid=%d reason=%s stage=%s error=%d",
		kind_name(place->kind), zygote->pid, is_memory ? "memory" : "failure",
		LOG_VALUE(stage_name(stage)), -error);
	place->stage = stage;
	place->error = -error;
	zygote_retire(zygote);
	retry_set(place);
}

static void on_start_limit(struct timer *timer)
{
	struct zygote *zygote = container_of(timer, struct zygote, timer);

	zygote_doubt(zygote, STAGE_ZYGOTE_SERVES, -ETIMEDOUT);
}

/* Seen from here, not told by it: a copy of a process with threads would have their locks, held. */
static int threads_check(const struct zygote *zygote)
{
	AUTO_CLOSE int fd = -1;
	const struct dirent *entry;
	char path[32];
	int n = 0;
	DIR *dir;

	(void)str_format(path, sizeof(path), "%d/task", zygote->pid);
	fd = openat(zygote->place->jaild->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return -errno;
	fd = -1;
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	(void)closedir(dir);
	return n == 1 ? 0 : -EUSERS;
}

void zygote_serves(struct zygote *zygote, const struct zygote_event *event)
{
	struct zygote_place *place = zygote->place;
	int r = STAGE_TRY(STAGE_ZYGOTE_SERVES, threads_check(zygote));

	if (r < 0 || zygote != place->coming) {
		zygote_doubt(zygote, STAGE_ZYGOTE_SERVES, r < 0 ? r : -EPROTO);
		return;
	}
	loop_timer_clear(&place->jaild->loop, &zygote->timer);
	(void)group_has_killed(place); /* its lesson, then: it is none the worse */
	zygote->serves = true;
	if (place->serving)
		zygote_retire(place->serving);
	place->serving = zygote;
	place->coming = NULL;
	place->failures = 0;
	place->loaded = event->loaded;
	place->hot_pages = event->hot_pages;
	place->lesson = event->lesson;
	place->generation++;
	log_info("msg=\"a zygote serves\" kind=%s pid=%d generation=%u hot_pages=%u",
		kind_name(place->kind), zygote->pid, place->generation, event->hot_pages);
	if (event->lesson != 0)
		log_warning("msg=\"copies of a zygote are slow\" kind=%s pid=%d stage=%s error=%d",
			kind_name(place->kind), zygote->pid,
			LOG_VALUE(stage_name(STAGE_ZYGOTE_LESSON)), event->lesson);
}

static int plan_send(const struct zygote *zygote)
{
	const struct jaild *jaild = zygote->place->jaild;
	const int fds[ZYGOTE_PLAN_FDS] = {
		[ZYGOTE_PLAN_FILTER] = jaild->nursery.filter_fd, [ZYGOTE_PLAN_PROC] = jaild->proc_fd
	};
	struct zygote_plan plan = { .magic = ZYGOTE_MAGIC,
		.kind = zygote->place->kind,
		.filter_count = jaild->nursery.filter_count };

#ifdef CLOCHE_FAULT_INJECTION
	plan.stage_to_fail = stage_to_fail;
#endif
	return channel_send(zygote->fd, &plan, sizeof(plan), fds, ZYGOTE_PLAN_FDS);
}

static int process_spawn(struct zygote *zygote, int socket)
{
	struct jaild *jaild = zygote->place->jaild;
	struct spawn spawn = { .init_fd = jaild->init_fd,
		.control_fd = socket,
		.null_fd = jaild->null_fd,
		.template_ns_fd = jaild->template_ns_fd,
		.own_ns_fd = jaild->own_ns_fd };
	struct cgroup_door door;
	int r = cgroup_zygotes_open(&jaild->cgroups, group_name(zygote->place->kind), &door);

	if (r < 0)
		return r;
	spawn.leaf_fd = door.leaf_fd;
	spawn.tasks_fd = door.tasks_fd;
	r = -EEXIST;
	for (int tries = 0; r == -EEXIST && tries < PID_COUNT; tries++) {
		zygote->pid = (pid_t)(PID_FIRST + jaild->nursery.next_pid++ % PID_COUNT);
		r = spawn_init(&spawn, SPAWN_ZYGOTE, &zygote->pid, &zygote->pidfd);
	}
	(void)fd_close(door.leaf_fd);
	(void)fd_close(door.tasks_fd);
	return r;
}

/* Its score is a cell's, which its copies inherit; and it is watched. */
static int process_settle(struct zygote *zygote)
{
	struct jaild *jaild = zygote->place->jaild;
	int r = oom_score_set(jaild->proc_fd, zygote->pid, OOM_SCORE_CELL);

	if (r == 0)
		r = fd_set_nonblocking(zygote->fd);
	if (r == 0)
		r = plan_send(zygote);
	if (r == 0)
		r = loop_watch(&jaild->loop, &zygote->control, zygote->fd, zygote_on_control);
	return r;
}

static int process_begin(struct zygote *zygote)
{
	struct jaild *jaild = zygote->place->jaild;
	int sockets[2];
	int r = channel_pair(sockets);

	if (r < 0)
		return r;
	zygote->fd = sockets[0];
	r = process_spawn(zygote, sockets[1]);
	(void)fd_close(sockets[1]);
	if (r == 0)
		r = loop_watch(&jaild->loop, &zygote->death, zygote->pidfd, on_death);
	return r;
}

void zygote_begin(struct zygote_place *place)
{
	struct zygote *zygote = xcalloc(1, sizeof(*zygote));
	enum stage stage = STAGE_ZYGOTE_CGROUP;
	int r;

	*zygote = (struct zygote){ .place = place,
		.pidfd = -1,
		.fd = -1,
		.control.fd = -1,
		.death.fd = -1,
		.stage = STAGE_ZYGOTE_SPAWN };
	r = STAGE_TRY(STAGE_ZYGOTE_CGROUP, group_make(place));
	if (r == 0) {
		stage = STAGE_ZYGOTE_SPAWN;
		r = STAGE_TRY(STAGE_ZYGOTE_SPAWN, process_begin(zygote));
	}
	if (r < 0) {
		log_warning("msg=\"no zygote\" kind=%s stage=%s error=%d", kind_name(place->kind),
			LOG_VALUE(stage_name(stage)), -r);
		place->stage = stage;
		place->error = -r;
		if (zygote->pidfd >= 0)
			child_end(zygote->pidfd); /* nobody watches it */
		(void)fd_close(zygote->fd);
		(void)fd_close(zygote->pidfd);
		free(zygote);
		retry_set(place);
		return;
	}
	place->coming = zygote;
	r = process_settle(zygote);
	if (r < 0)
		zygote_doubt(zygote, STAGE_ZYGOTE_SPAWN, r);
	else
		loop_timer_set(&place->jaild->loop, &zygote->timer, START_LIMIT_US, on_start_limit);
}

void nursery_init(struct jaild *jaild, unsigned max_runs)
{
	jaild->nursery = (struct nursery){ .max_runs = max_runs, .filter_fd = -1 };
	for (unsigned i = 0; i < ZYGOTE_KINDS; i++)
		jaild->nursery.places[i] = (struct zygote_place){ .jaild = jaild, .kind = i };
}

void nursery_start(struct jaild *jaild)
{
	for (unsigned i = 0; i < ZYGOTE_KINDS && jaild->nursery.max_runs > 0; i++)
		zygote_begin(&jaild->nursery.places[i]);
}

void nursery_count(struct jaild *jaild, enum zygote_kind kind, bool is_copy)
{
	struct zygote_place *place = &jaild->nursery.places[kind];

	if (jaild->nursery.max_runs == 0)
		return;
	place->used += is_copy;
	place->missed += !is_copy;
	if (!is_copy)
		log_info("msg=\"a run is executed, not copied\" kind=%s", kind_name(kind));
}

static enum wire_zygote_state state_of(
	const struct nursery *nursery, const struct zygote_place *place)
{
	if (nursery->max_runs == 0)
		return WIRE_ZYGOTE_OFF;
	if (place->serving)
		return WIRE_ZYGOTE_SERVES;
	return place->generation == 0 && place->failures == 0 ? WIRE_ZYGOTE_LOADING
							      : WIRE_ZYGOTE_FAILED;
}

void nursery_tell(
	const struct nursery *nursery, enum zygote_kind kind, struct wire_zygote *ret_told)
{
	const struct zygote_place *place = &nursery->places[kind];

	*ret_told = (struct wire_zygote){ .state = state_of(nursery, place),
		.generation = place->generation,
		.loaded = place->loaded,
		.copies = place->copies,
		.used = place->used,
		.missed = place->missed,
		.kills = place->kills,
		.hot_pages = place->hot_pages,
		.lesson = place->lesson,
		.stage = place->stage,
		.error = place->error };
}
