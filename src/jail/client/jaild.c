/*
 * Theory of operation: requests are numbered; the answer bears the number. A call sends, then reads
 * messages until its own answer is there. What comes meanwhile for a run belongs to the watch with
 * that run's number and is handed over on the spot, so a long listing never loses the end of a run.
 *
 * jaild is trusted more than anything else here, yet a message is checked like a stranger's
 * (wire_check): the two are one build, and a difference means that something is broken. Such a
 * connection is closed, as is one whose answer does not come in time, since after that nobody knows
 * whose answer the next message is. Closing tells every watch once (NULL), so no run waits for
 * ever.
 */
#include "jail/client/jaild.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"
#include "jail/client/refusal.h"
#include "wire/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

/* An answer with the descriptor that came with it. */
struct answer {
	union wire_any message;
	int fds[CHANNEL_FDS_MAX];
	size_t n_fds;
};

static void answer_fini(struct answer *answer)
{
	channel_close_fds(answer->fds, answer->n_fds);
	answer->n_fds = 0;
}

/* Gives the connection up and says why; an earlier reason is kept. Returns -ECONNRESET. */
static int lose(struct jaild *jaild, const char *why)
{
	struct jaild_watch *watch = jaild->watches;

	if (jaild->fd >= 0)
		fault_set(&jaild->fault, FAULT_SANDBOX_UNAVAILABLE, "%s", why);
	jaild->fd = fd_close(jaild->fd);
	jaild->watches = NULL;
	while (watch) {
		struct jaild_watch *next = watch->next;

		watch->next = NULL;
		watch->on_message(watch, NULL);
		watch = next;
	}
	return -ECONNRESET;
}

/* Waits until a message can be read. Returns 0, or loses the connection at the deadline. */
static int wait_readable(struct jaild *jaild, usec_t deadline_us)
{
	struct pollfd pollfd = { .fd = jaild->fd, .events = POLLIN };

	for (;;) {
		usec_t now_us = clock_now_us();
		int timeout_ms =
			now_us >= deadline_us ? 0 : (int)((deadline_us - now_us) / USEC_PER_MS) + 1;
		int n = poll(&pollfd, 1, timeout_ms);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return lose(jaild, "waiting for jaild failed");
		if (n == 0 && clock_now_us() >= deadline_us)
			return lose(jaild, "jaild does not answer");
	}
}

static int receive(struct jaild *jaild, struct answer *ret_answer)
{
	ssize_t n;

	if (jaild->fd < 0)
		return -ECONNRESET;
	n = channel_receive(jaild->fd, &ret_answer->message, sizeof(ret_answer->message),
		ret_answer->fds, &ret_answer->n_fds);
	if (n == 0 || n == -ECONNRESET)
		return lose(jaild, "jaild ended unexpectedly");
	if (n < 0)
		return lose(jaild, "a message from jaild could not be read");
	if (wire_check(&ret_answer->message, (size_t)n, ret_answer->n_fds) < 0 ||
		wire_is_request(ret_answer->message.header.type)) {
		answer_fini(ret_answer);
		return lose(jaild, "jaild sent a malformed message: is it of the same version?");
	}
	return 0;
}

/* Hands a message to the run it belongs to. */
static int route(struct jaild *jaild, const struct answer *answer)
{
	for (struct jaild_watch *watch = jaild->watches; watch; watch = watch->next)
		if (watch->seq == answer->message.header.seq && answer->n_fds == 0) {
			watch->on_message(watch, &answer->message);
			return 0;
		}
	return lose(jaild, "jaild answered what was not asked");
}

int jaild_dispatch(struct jaild *jaild)
{
	struct answer answer;
	int r = receive(jaild, &answer);

	if (r < 0)
		return r;
	r = route(jaild, &answer);
	answer_fini(&answer);
	return r;
}

static int send_request(
	struct jaild *jaild, union wire_any *request, unsigned type, const int *fds, size_t n_fds)
{
	int r;

	if (jaild->fd < 0)
		return -ECONNRESET;
	/* 0 is the number of jaild's own first message. */
	if (++jaild->seq == 0)
		jaild->seq = 1;
	request->header = (struct wire_header){
		.type = (uint16_t)type, .version = WIRE_VERSION, .seq = jaild->seq
	};
	r = channel_send(jaild->fd, request, wire_size(type), fds, n_fds);
	return r < 0 ? lose(jaild, "jaild ended unexpectedly") : 0;
}

/* Waits for the answer to the last request. wanted is its type when all is well. */
static int wait_answer(
	struct jaild *jaild, uint32_t seq, unsigned wanted, struct answer *ret_answer)
{
	usec_t deadline_us = clock_now_us() + JAILD_ANSWER_MS * USEC_PER_MS;

	for (;;) {
		int r = wait_readable(jaild, deadline_us);

		if (r == 0)
			r = receive(jaild, ret_answer);
		if (r < 0)
			return r;
		if (ret_answer->message.header.seq == seq)
			break;
		r = route(jaild, ret_answer);
		answer_fini(ret_answer);
		if (r < 0)
			return r;
	}
	if (ret_answer->message.header.type == WIRE_FAILED)
		return refusal_take(&ret_answer->message.failed, &jaild->fault);
	if (ret_answer->message.header.type != wanted) {
		answer_fini(ret_answer);
		return lose(jaild, "jaild gave an answer of the wrong kind");
	}
	return 0;
}

/* One request without descriptors and its answer. The descriptor of the answer, if its kind has
 * one, goes to *ret_fd. */
static int call(
	struct jaild *jaild, union wire_any *request, unsigned type, unsigned wanted, int *ret_fd)
{
	struct answer answer;
	int r = send_request(jaild, request, type, NULL, 0);

	if (r == 0)
		r = wait_answer(jaild, jaild->seq, wanted, &answer);
	if (r < 0)
		return r;
	*request = answer.message;
	if (ret_fd && answer.n_fds == 1)
		*ret_fd = TAKE_FD(answer.fds[0]);
	answer_fini(&answer);
	return 0;
}

void jaild_attach(struct jaild *jaild, int fd)
{
	*jaild = (struct jaild){ .fd = fd, .pidfd = -1 };
}

int jaild_wait_ready(struct jaild *jaild)
{
	struct answer answer;
	int r = wait_answer(jaild, 0, WIRE_DONE, &answer);

	if (r == 0)
		answer_fini(&answer);
	return r;
}

int jaild_another(struct jaild *jaild, struct jaild *ret_another)
{
	union wire_any any = { 0 };
	struct answer answer;
	int pair[2], r = channel_pair(pair);

	if (r < 0) {
		fault_set(&jaild->fault, FAULT_SANDBOX_UNAVAILABLE, "no socket for jaild: %s",
			strerror(-r));
		return r;
	}
	r = send_request(jaild, &any, WIRE_ATTACH, &pair[1], 1);
	(void)fd_close(pair[1]);
	if (r == 0)
		r = wait_answer(jaild, jaild->seq, WIRE_DONE, &answer);
	if (r < 0) {
		(void)fd_close(pair[0]);
		return r;
	}
	answer_fini(&answer);
	jaild_attach(ret_another, pair[0]);
	return 0;
}

int jaild_status(struct jaild *jaild, struct wire_status_is *ret_status)
{
	union wire_any any = { 0 };
	int r = call(jaild, &any, WIRE_STATUS, WIRE_STATUS_IS, NULL);

	if (r == 0)
		*ret_status = any.status_is;
	return r;
}

int jaild_spares(struct jaild *jaild, uint32_t count, const struct wire_limits *limits)
{
	union wire_any any = { .spares = { .count = count, .limits = *limits } };

	return call(jaild, &any, WIRE_SPARES, WIRE_DONE, NULL);
}

int jaild_session_open(struct jaild *jaild, const char *key, const struct wire_limits *limits,
	uint64_t *ret_session)
{
	union wire_any any = { 0 };
	int r;

	any.session_open.limits = *limits;
	r = str_copy(any.session_open.key, sizeof(any.session_open.key), key);
	assert(r == 0); /* keys were checked with id_key_is_valid */
	r = call(jaild, &any, WIRE_SESSION_OPEN, WIRE_SESSION_IS, NULL);
	if (r == 0)
		*ret_session = any.session_is.session;
	return r;
}

int jaild_session_close(struct jaild *jaild, uint64_t session)
{
	union wire_any any = { .session_close = { .session = session } };

	return call(jaild, &any, WIRE_SESSION_CLOSE, WIRE_DONE, NULL);
}

/* The last descriptor may be left out: an empty stdin of a live call. */
static int run_request(struct jaild *jaild, struct jaild_watch *watch, union wire_any *request,
	unsigned type, const int fds[WIRE_RUN_FDS])
{
	size_t n_fds = fds[WIRE_RUN_FDS - 1] >= 0 ? WIRE_RUN_FDS : WIRE_RUN_FDS - 1;
	int r = send_request(jaild, request, type, fds, n_fds);

	if (r < 0)
		return r;
	watch->seq = jaild->seq;
	watch->next = jaild->watches;
	jaild->watches = watch;
	return 0;
}

int jaild_run(struct jaild *jaild, struct jaild_watch *watch, const struct wire_run *run,
	const int fds[WIRE_RUN_FDS])
{
	union wire_any any = { .run = *run };

	return run_request(jaild, watch, &any, WIRE_RUN, fds);
}

int jaild_live(struct jaild *jaild, struct jaild_watch *watch, const struct wire_live *request,
	const int fds[WIRE_RUN_FDS])
{
	const int ordered[WIRE_RUN_FDS] = { [WIRE_LIVE_PACKAGE] = fds[WIRE_RUN_PACKAGE],
		[WIRE_LIVE_STDOUT] = fds[WIRE_RUN_STDOUT],
		[WIRE_LIVE_STDERR] = fds[WIRE_RUN_STDERR],
		[WIRE_LIVE_REPORT] = fds[WIRE_RUN_REPORT],
		[WIRE_LIVE_STDIN] = fds[WIRE_RUN_STDIN] };
	union wire_any any = { .live = *request };

	return run_request(jaild, watch, &any, WIRE_LIVE, ordered);
}

void jaild_unwatch(struct jaild *jaild, struct jaild_watch *watch)
{
	for (struct jaild_watch **at = &jaild->watches; *at; at = &(*at)->next)
		if (*at == watch) {
			*at = watch->next;
			watch->next = NULL;
			return;
		}
}

int jaild_run_cancel(struct jaild *jaild, uint64_t run)
{
	union wire_any any = { .run_cancel = { .run = run } };

	return call(jaild, &any, WIRE_RUN_CANCEL, WIRE_DONE, NULL);
}

int jaild_run_look(struct jaild *jaild, uint64_t run)
{
	union wire_any any = { .run_look = { .run = run } };

	return send_request(jaild, &any, WIRE_RUN_LOOK, NULL, 0);
}

static int file_request(
	struct jaild *jaild, union wire_any *any, uint64_t session, const char *path)
{
	any->file.session = session;
	if (str_copy(any->file.path, sizeof(any->file.path), path) < 0) {
		fault_set(&jaild->fault, FAULT_NOT_FOUND, "a path is longer than %d bytes",
			WIRE_PATH_SIZE - 1);
		return -ENAMETOOLONG;
	}
	return 0;
}

int jaild_file_open(struct jaild *jaild, uint64_t session, const char *path,
	struct wire_file_is *ret_file, int *ret_fd)
{
	union wire_any any = { 0 };
	int r = file_request(jaild, &any, session, path);

	if (r == 0)
		r = call(jaild, &any, WIRE_FILE_OPEN, WIRE_FILE_IS, ret_fd);
	if (r == 0)
		*ret_file = any.file_is;
	return r;
}

int jaild_file_create(struct jaild *jaild, uint64_t session, const char *path, mode_t mode,
	struct jaild_upload *ret_upload)
{
	union wire_any any = { .file = { .mode = mode } };
	int r = file_request(jaild, &any, session, path);

	if (r == 0)
		r = call(jaild, &any, WIRE_FILE_CREATE, WIRE_UPLOAD_IS, &ret_upload->fd);
	if (r == 0)
		ret_upload->id = any.upload.upload;
	return r;
}

int jaild_file_commit(struct jaild *jaild, uint64_t upload, const int64_t *mtime_ns)
{
	union wire_any any = { .commit = { .upload = upload } };

	if (mtime_ns) {
		any.commit.mtime_ns = *mtime_ns;
		any.commit.has_mtime = 1;
	}

	return call(jaild, &any, WIRE_FILE_COMMIT, WIRE_DONE, NULL);
}

int jaild_make(struct jaild *jaild, const struct jaild_make *make)
{
	union wire_any any = { .make = { .session = make->session,
				       .mtime_ns = make->mtime_ns,
				       .kind = make->kind,
				       .mode = make->mode } };
	size_t path_size = strlen(make->path), text_size = make->text ? strlen(make->text) : 0;

	if (path_size + text_size > JAILD_NAMES_MAX) {
		fault_set(&jaild->fault, FAULT_BAD_REQUEST, "the path is too long");
		return -ENAMETOOLONG;
	}
	memcpy(any.make.names, make->path, path_size);
	if (make->text)
		memcpy(any.make.names + path_size + 1, make->text, text_size);
	return call(jaild, &any, WIRE_MAKE, WIRE_DONE, NULL);
}

int jaild_file_abort(struct jaild *jaild, uint64_t upload)
{
	union wire_any any = { .upload = { .upload = upload } };

	return call(jaild, &any, WIRE_FILE_ABORT, WIRE_DONE, NULL);
}

int jaild_file_remove(struct jaild *jaild, uint64_t session, const char *path)
{
	union wire_any any = { 0 };
	int r = file_request(jaild, &any, session, path);

	return r < 0 ? r : call(jaild, &any, WIRE_FILE_REMOVE, WIRE_DONE, NULL);
}

int jaild_list(struct jaild *jaild, const struct wire_list *request,
	struct wire_listing_is *ret_listing, int *ret_fd)
{
	union wire_any any = { .list = *request };
	int r = call(jaild, &any, WIRE_LIST, WIRE_LISTING_IS, ret_fd);

	if (r == 0)
		*ret_listing = any.listing_is;
	return r;
}
