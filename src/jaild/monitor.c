#include "jaild/monitor.h"

#include "base/beneath.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/log.h"
#include "base/macro.h"
#include "jaild/answer.h"
#include "jaild/cell/cell.h"
#include "jaild/client.h"
#include "jaild/make.h"
#include "jaild/spares/walk.h"
#include "jaild/upload.h"
#include "wire/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/*
 * OpenSSH's monitor in small: a table of requests. wire_check has seen to size, descriptors and
 * form before a handler is called; each handler checks what the numbers mean. A message that is
 * not in order ends the connection and what it has under way; if it is the first one, jaild.
 */

/* A handler answers, or has something answer later. The caller closes the fds that are left. */
typedef void handler(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds);

static uint32_t protections_now(const struct jaild *jaild)
{
	uint32_t on = WIRE_PROTECT_LANDLOCK | WIRE_PROTECT_SECCOMP | WIRE_PROTECT_NAMESPACES;

	if (jaild->cgroups.backend != WIRE_CGROUP_NONE)
		on |= WIRE_PROTECT_MEMORY | WIRE_PROTECT_PIDS | WIRE_PROTECT_CPU;
	if (jaild->cgroups.unified_fd >= 0)
		on |= WIRE_PROTECT_CGROUP_KILL;
	return on;
}

static void on_status(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	union wire_any message = { .status_is = { .backend = jaild->cgroups.backend,
					   .protections = protections_now(jaild),
					   .landlock_abi = jaild->landlock_abi,
					   .sessions = jaild->n_sessions,
					   .cells = jaild->n_cells,
					   .spares = spares_ready(jaild),
					   .spares_taken = jaild->spares.taken,
					   .spares_missed = jaild->spares.missed,
					   .spares_lost = jaild->spares.lost } };

	(void)fds;
	for (unsigned i = 0; i < WIRE_ZYGOTES; i++)
		nursery_tell(&jaild->nursery, i, &message.status_is.zygotes[i]);
	answer_send(jaild, reply, &message, WIRE_STATUS_IS, -1);
}

static void on_spares(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	const struct wire_spares *spares = &request->spares;
	const char *name;

	(void)fds;
	if (spares->count > WIRE_SPARES_MAX || wire_limits_check(&spares->limits, &name) < 0) {
		answer_refused(jaild, reply, ERANGE);
		return;
	}
	spares_keep(jaild, spares->count, &spares->limits);
	walkers_later(jaild);
	answer_done(jaild, reply);
}

static void on_session_open(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	const struct wire_session_open *open = &request->session_open;
	struct failure failure = { 0 };
	union wire_any message = { 0 };
	struct session *session;
	const char *name;

	(void)fds;
	if (!id_key_is_valid(open->key, strlen(open->key)) ||
		wire_limits_check(&open->limits, &name) < 0) {
		answer_refused(jaild, reply, ERANGE);
		return;
	}
	session = session_open(jaild, open, &failure);
	if (!session) {
		answer_failed(jaild, reply, &failure);
		return;
	}
	message.session_is.session = session->id;
	answer_send(jaild, reply, &message, WIRE_SESSION_IS, -1);
}

/* The session that a request names; a refusal has been answered when there is none. */
static struct session *session_named(struct jaild *jaild, const struct reply *reply, uint64_t id)
{
	struct session *session = session_find(jaild, id);

	if (!session)
		answer_refused(jaild, reply, ENOENT);
	return session;
}

static void on_session_close(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	struct session *session = session_named(jaild, reply, request->session_close.session);

	(void)fds;
	if (session)
		session_close(session, reply);
}

/* What a run of either kind must be; a refusal has been answered when it is not. */
static bool run_is_allowed(struct session *session, const struct run_request *run)
{
	int error = 0;

	if (session->cell || session->turn.is_taken)
		error = EBUSY;
	else if (run->wall_ms > session->limits.wall_ms)
		error = ERANGE;
	else if (!fd_is_sealed(run->fds[WIRE_RUN_PACKAGE]))
		error = EPERM;
	if (error != 0)
		answer_refused(session->jaild, &run->reply, error);
	return error == 0;
}

/* The rest of what a run is asked with; the descriptors are taken over. */
static void run_ask(struct jaild *jaild, uint64_t id, struct run_request *run, int *fds)
{
	struct session *session = session_named(jaild, &run->reply, id);

	for (int i = 0; i < WIRE_RUN_FDS; i++)
		run->fds[i] = TAKE_FD(fds[i]);
	run->accepted_us = clock_now_us();
	if (session && run->wall_ms == 0)
		run->wall_ms = session->limits.wall_ms;
	if (session && run_is_allowed(session, run))
		turn_take(session, run);
	channel_close_fds(run->fds, WIRE_RUN_FDS);
}

static void on_run(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	struct run_request run = {
		.reply = *reply, .warm = request->run.warm, .wall_ms = request->run.wall_ms
	};

	run_ask(jaild, request->run.session, &run, fds);
}

static void on_live(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	struct run_request run = { .reply = *reply,
		.is_live = true,
		.flags = request->live.flags,
		.wall_ms = request->live.wall_ms };

	run_ask(jaild, request->live.session, &run, fds);
}

static void on_run_cancel(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	(void)fds;
	for (struct session *session = jaild->sessions; session; session = session->next) {
		if (session->cell && session->cell->run == request->run_cancel.run) {
			answer_done(jaild, reply);
			cell_cancel(session->cell);
			return;
		}
	}
	answer_refused(jaild, reply, ESRCH);
}

static void on_run_look(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	(void)fds;
	for (struct session *session = jaild->sessions; session; session = session->next) {
		if (session->cell && session->cell->run == request->run_look.run &&
			session->cell->reply.client == reply->client) {
			cell_look(session->cell);
			return;
		}
	}
}

static void on_file_open(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	struct session *session = session_named(jaild, reply, request->file.session);
	union wire_any message = { 0 };
	AUTO_CLOSE int fd = -1;
	struct stat status;
	int r;

	(void)fds;
	if (!session)
		return;
	r = beneath_open_regular(session->home.fd, request->file.path, &fd);
	if (r == 0 && fstat(fd, &status) < 0)
		r = -errno;
	if (r < 0) {
		answer_refused(jaild, reply, r);
		return;
	}
	message.file_is.size_bytes = (uint64_t)status.st_size;
	message.file_is.mtime_ns = clock_to_ns(&status.st_mtim);
	message.file_is.inode = status.st_ino;
	answer_send(jaild, reply, &message, WIRE_FILE_IS, fd);
}

static void on_file_create(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	struct session *session = session_named(jaild, reply, request->file.session);
	struct upload_request upload;
	union wire_any message = { 0 };
	AUTO_CLOSE int fd = -1;
	int r;

	(void)fds;
	if (!session)
		return;
	upload = (struct upload_request){ reply->client, request->file.path, request->file.mode };
	r = upload_begin(session, &upload, &message.upload.upload, &fd);
	if (r < 0)
		answer_refused(jaild, reply, r);
	else
		answer_send(jaild, reply, &message, WIRE_UPLOAD_IS, fd);
}

static void result_answer(struct jaild *jaild, const struct reply *reply, int result)
{
	if (result < 0)
		answer_refused(jaild, reply, result);
	else
		answer_done(jaild, reply);
}

static void on_file_commit(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	(void)fds;
	result_answer(jaild, reply,
		upload_commit(jaild, request->commit.upload,
			request->commit.has_mtime ? &request->commit.mtime_ns : NULL));
}

static void on_make(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	struct session *session = session_named(jaild, reply, request->make.session);

	(void)fds;
	if (session)
		result_answer(jaild, reply, make_entry(session, &request->make));
}

static void on_file_abort(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	(void)fds;
	result_answer(jaild, reply, upload_abort(jaild, request->upload.upload));
}

static void on_file_remove(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	struct session *session = session_named(jaild, reply, request->file.session);

	(void)fds;
	if (session)
		result_answer(jaild, reply, upload_remove(session, request->file.path));
}

static void on_list(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	struct session *session = session_named(jaild, reply, request->list.session);
	int r;

	(void)fds;
	if (!session)
		return;
	r = walk_start(session, reply, &request->list);
	if (r < 0)
		answer_refused(jaild, reply, r);
}

static void on_client(struct watch *watch);

static void on_attach(
	struct jaild *jaild, const struct reply *reply, const union wire_any *request, int *fds)
{
	int r = client_add(jaild, fds[0], false, on_client);

	(void)request;
	if (r == 0)
		fds[0] = -1;
	result_answer(jaild, reply, r);
}

static handler *const handlers[WIRE_TYPE_MAX] = {
	[WIRE_STATUS] = on_status,
	[WIRE_SESSION_OPEN] = on_session_open,
	[WIRE_SESSION_CLOSE] = on_session_close,
	[WIRE_RUN] = on_run,
	[WIRE_LIVE] = on_live,
	[WIRE_RUN_CANCEL] = on_run_cancel,
	[WIRE_FILE_OPEN] = on_file_open,
	[WIRE_FILE_CREATE] = on_file_create,
	[WIRE_FILE_COMMIT] = on_file_commit,
	[WIRE_FILE_ABORT] = on_file_abort,
	[WIRE_FILE_REMOVE] = on_file_remove,
	[WIRE_LIST] = on_list,
	[WIRE_ATTACH] = on_attach,
	[WIRE_MAKE] = on_make,
	[WIRE_SPARES] = on_spares,
	[WIRE_RUN_LOOK] = on_run_look,
};

static void on_client(struct watch *watch)
{
	struct client *client = container_of(watch, struct client, watch);
	struct jaild *jaild = client->jaild;
	struct reply reply = { .client = client->id };
	union wire_any request = { .header = { 0 } }; /* a message may be shorter than that */
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;
	ssize_t n;

	n = channel_receive(watch->fd, &request, sizeof(request), fds, &n_fds);
	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		client_close(client);
		return;
	}
	if (wire_check(&request, (size_t)n, n_fds) < 0 || !handlers[request.header.type]) {
		log_error("msg=\"the client broke the protocol\" type=%u size=%zd",
			(unsigned)request.header.type, n);
		client_close(client);
	} else {
		reply.seq = request.header.seq;
		handlers[request.header.type](jaild, &reply, &request, fds);
		spares_later(jaild);
	}
	channel_close_fds(fds, n_fds);
}

int monitor_start(struct jaild *jaild, int client_fd)
{
	return client_add(jaild, client_fd, true, on_client);
}
