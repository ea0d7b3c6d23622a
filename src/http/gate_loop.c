/*
 * Theory of operation: epoll(7), edge-triggered for the sockets of clients. A peeked head stays in
 * the socket, so a level would be high for ever; an edge comes with each new segment, and the scan
 * goes on where it stopped. One table holds all connections, and a connection is freed only by this
 * thread, on its own event or after all events of connections in a batch, so that no event points
 * to freed memory: listeners, whose newcomers may evict others, have their turn last. Deadlines are
 * found by a sweep over the table, which happens not before the earliest one.
 *
 * Handing over: a worker uses the descriptor itself (http/workers.h); the library gets a duplicate
 * and closes that one. Ours stays: it is polled by handlers, cut at deadlines, and lingers at the
 * end. The link between the two is the duplicate's number in `served`, taken out (gate_release)
 * before the library closes it, so that a number never means two connections.
 *
 * Traps: accept(2) without free descriptors leaves the listener ready for ever; it is left alone
 * for ACCEPT_PAUSE_US then. Deadlines set by other threads do not wake this one: while anything is
 * served it wakes each second.
 */
#include "http/gate_loop.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/log.h"
#include "base/macro.h"
#include "http/connection.h"
#include "http/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define EVENTS_MAX	64 /* of one batch */
#define ACCEPT_PAUSE_US (USEC_PER_S / 10)
#define SWEEP_PERIOD_US USEC_PER_S	 /* while requests are served */
#define START_MAX_US	(5 * USEC_PER_S) /* for the library to begin with a connection */

/* The lock is held. */
static void deadline_note(struct gate *gate, usec_t at_us)
{
	if (at_us > 0 && at_us < gate->sweep_at_us)
		gate->sweep_at_us = at_us;
}

void gate_deadline_set(struct gate *gate, struct connection *connection, usec_t after_us)
{
	connection->deadline_us = after_us > 0 ? clock_now_us() + after_us : 0;
	deadline_note(gate, connection->deadline_us);
}

void gate_wake(struct gate *gate)
{
	(void)!write(gate->wake_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

int gate_watch(struct gate *gate, int fd, uint32_t events, void *data)
{
	struct epoll_event event = { .events = events, .data.ptr = data };

	return epoll_ctl(gate->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static void unwatch(struct gate *gate, int fd)
{
	(void)epoll_ctl(gate->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void gate_accepting_set(struct gate *gate, bool is_accepting)
{
	if (gate->is_accepting == is_accepting)
		return;
	gate->is_accepting = is_accepting;
	for (size_t i = 0; i < gate->n_listeners; i++) {
		if (!is_accepting)
			unwatch(gate, gate->listeners[i]);
		else if (gate_watch(gate, gate->listeners[i], EPOLLIN, &gate->listeners[i]) < 0)
			log_error("msg=\"cannot watch a listener\" error=%d", errno);
	}
}

static int connection_watch(struct gate *gate, struct connection *connection, uint32_t events)
{
	int r = gate_watch(gate, connection->fd, events, connection);

	connection->is_watched = r == 0;
	return r;
}

static void connection_unwatch(struct gate *gate, struct connection *connection)
{
	if (connection->is_watched)
		unwatch(gate, connection->fd);
	connection->is_watched = false;
}

/* Ends a connection for good. Closing its descriptor is not enough for epoll: the library may not
 * have closed the duplicate yet. */
static void drop(struct gate *gate, struct connection *connection)
{
	size_t i = connection->index;

	connection_unwatch(gate, connection);
	assert(gate->all[i] == connection);
	gate->all[i] = gate->all[--gate->n];
	gate->all[i]->index = i;
	if (connection->state == CONNECTION_LINGERING)
		gate->n_lingering--;
	pthread_mutex_lock(&gate->lock);
	if (connection->state == CONNECTION_WAITING)
		gate->stats.waiting--;
	pthread_mutex_unlock(&gate->lock);
	connection_free(connection);
}

/* Answered: our half is closed, what comes is dropped until the client closes its own. */
static void linger(struct gate *gate, struct connection *connection)
{
	pthread_mutex_lock(&gate->lock);
	if (connection->state == CONNECTION_WAITING)
		gate->stats.waiting--;
	connection->state = CONNECTION_LINGERING;
	gate_deadline_set(gate, connection, gate->limits->linger_ms * USEC_PER_MS);
	pthread_mutex_unlock(&gate->lock);
	gate->n_lingering++;
	if (!connection->is_shut)
		(void)shutdown(connection->fd, SHUT_WR);
	connection_unwatch(gate, connection);
	if (gate->n_lingering > GATE_LINGER_MAX ||
		connection_drop(connection, gate->scratch, GATE_SCRATCH_SIZE) ||
		connection_watch(gate, connection, EPOLLIN | EPOLLRDHUP) < 0)
		drop(gate, connection);
}

static void refuse(struct gate *gate, struct connection *connection, const struct fault *fault)
{
	AUTO_BUF struct buf out = BUF_INIT(CONNECTION_REFUSAL_MAX);
	char id[ID_LEN + 1];
	int r;

	pthread_mutex_lock(&gate->lock);
	gate->stats.refused++;
	pthread_mutex_unlock(&gate->lock);
	r = id_make(id);
	assert(r == 0);
	log_info("msg=refused request=%s status=%d peer=%s why=%s", id, fault_status(fault->code),
		LOG_VALUE(connection->peer.text), LOG_VALUE(fault->text));
	connection_format_refusal(fault, id, &out);
	(void)send(connection->fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	linger(gate, connection);
}

static void refuse_full(struct gate *gate, struct connection *connection)
{
	struct fault fault;

	fault_set(&fault, FAULT_SERVER_BUSY, "The server has as many connections as it may.");
	refuse(gate, connection, &fault);
}

/* Makes the connection a served one. False: there is no place. */
static bool serve(struct gate *gate, struct connection *connection)
{
	struct connection **place = NULL;

	pthread_mutex_lock(&gate->lock);
	for (unsigned i = 0; i < gate->limits->served_max && !place; i++) {
		if (!gate->served[i])
			place = &gate->served[i];
	}
	if (place) {
		*place = connection;
		connection->state = CONNECTION_SERVED;
		gate_deadline_set(gate, connection, START_MAX_US);
		gate->stats.waiting--;
		gate->stats.served++;
	}
	pthread_mutex_unlock(&gate->lock);
	return place;
}

/* Takes the connection out of the served ones; what follows is closing it. */
static void unserve(struct gate *gate, struct connection *connection)
{
	pthread_mutex_lock(&gate->lock);
	for (unsigned i = 0; i < gate->limits->served_max; i++) {
		if (gate->served[i] == connection)
			gate->served[i] = NULL;
	}
	gate->stats.served--;
	pthread_mutex_unlock(&gate->lock);
}

static void hand_over(struct gate *gate, struct connection *connection)
{
	if (!serve(gate, connection)) {
		refuse_full(gate, connection);
		return;
	}
	connection_unwatch(gate, connection);
	if (gate->on_head(gate, connection))
		return;
	unserve(gate, connection);
	refuse_full(gate, connection);
}

/* True if more of the head is to come. */
static bool on_waiting(struct gate *gate, struct connection *connection, uint32_t events)
{
	struct fault fault;
	int r = connection_peek(connection, gate->scratch, &fault);

	if (r == 1)
		hand_over(gate, connection);
	else if (r == -EBADMSG)
		refuse(gate, connection, &fault);
	else if (r < 0 || (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
		drop(gate, connection);
	else
		return true;
	return false;
}

/* The table is full: the one that has had the longest time for its head makes room, so that whoever
 * sends a head at once is served whatever others hold open. */
static void evict_oldest(struct gate *gate)
{
	struct connection *oldest = NULL;
	struct fault fault;

	for (size_t i = 0; i < gate->n; i++) {
		struct connection *at = gate->all[i];

		/* Only this thread sets the deadline of a waiting one. */
		if (at->state == CONNECTION_WAITING &&
			(!oldest || at->deadline_us < oldest->deadline_us))
			oldest = at;
	}
	if (!oldest)
		return;
	if (connection_peek(oldest, gate->scratch, &fault) == 1)
		hand_over(gate, oldest); /* its event has not had its turn */
	else
		refuse_full(gate, oldest);
}

/* Mostly the head has come already. */
static void accept_one(struct gate *gate, int fd, const union connection_address *address)
{
	struct connection *connection;

	if (gate->stats.waiting >= gate->limits->waiting_max)
		evict_oldest(gate);
	connection = connection_new(fd, address);
	connection->index = gate->n;
	gate->all[gate->n++] = connection;
	pthread_mutex_lock(&gate->lock);
	gate_deadline_set(gate, connection, gate->limits->head_ms * USEC_PER_MS);
	gate->stats.accepted++;
	gate->stats.waiting++;
	pthread_mutex_unlock(&gate->lock);
	if (on_waiting(gate, connection, 0) &&
		connection_watch(gate, connection, EPOLLIN | EPOLLRDHUP | EPOLLET) < 0)
		drop(gate, connection);
}

/* One in each turn: an accept that finds nobody costs more than the turn. */
static void on_listener(struct gate *gate, int listener)
{
	union connection_address address = { .any = { .sa_family = AF_UNSPEC } };
	socklen_t size = sizeof(address);
	int fd = accept4(listener, &address.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)) {
		log_warning("msg=\"cannot accept\" error=%d", errno);
		gate_accepting_set(gate, false);
		gate->accept_at_us = clock_now_us() + ACCEPT_PAUSE_US;
	}
	if (fd < 0)
		return;
	if (gate->n >= gate->n_max)
		(void)fd_close(fd);
	else
		accept_one(gate, fd, &address);
}

static bool is_listener(const struct gate *gate, const void *data)
{
	const int *at = data;

	return at >= gate->listeners && at < gate->listeners + gate->n_listeners;
}

static void on_event(struct gate *gate, const struct epoll_event *event)
{
	struct connection *connection = event->data.ptr;
	uint64_t count;

	if (event->data.ptr == &gate->wake_fd)
		(void)!read(gate->wake_fd, &count, sizeof(count));
	else if (connection->state == CONNECTION_WAITING)
		(void)on_waiting(gate, connection, event->events);
	else if (connection_drop(connection, gate->scratch, GATE_SCRATCH_SIZE))
		drop(gate, connection);
}

/* True if the library is done with it, or never began. */
static bool is_over(struct gate *gate, struct connection *connection, usec_t now_us)
{
	bool is_late, result;

	pthread_mutex_lock(&gate->lock);
	is_late = connection->deadline_us > 0 && connection->deadline_us <= now_us;
	result = connection->is_over || (is_late && !connection->is_started);
	pthread_mutex_unlock(&gate->lock);
	return result;
}

static void on_late(struct gate *gate, struct connection *connection)
{
	struct fault fault;

	switch (connection->state) {
	case CONNECTION_WAITING:
		fault_set(&fault, FAULT_REQUEST_TIMEOUT, "The head did not come in time.");
		if (connection->scanned > 0)
			refuse(gate, connection, &fault);
		else
			drop(gate, connection);
		break;
	case CONNECTION_SERVED:
		log_info("msg=cut peer=%s", LOG_VALUE(connection->peer.text));
		gate_set_deadline(gate, connection, 0);
		(void)shutdown(connection->fd, SHUT_RDWR);
		break;
	case CONNECTION_LINGERING:
		drop(gate, connection);
		break;
	}
}

/* Closes what the library let go, acts on deadlines, finds the next. */
static void sweep(struct gate *gate)
{
	usec_t now_us = clock_now_us(), at_us;

	pthread_mutex_lock(&gate->lock);
	gate->sweep_at_us = UINT64_MAX;
	gate->has_over = false;
	pthread_mutex_unlock(&gate->lock);
	for (size_t i = gate->n; i-- > 0;) {
		struct connection *connection = gate->all[i];

		if (connection->state == CONNECTION_SERVED && is_over(gate, connection, now_us)) {
			unserve(gate, connection);
			linger(gate, connection);
			continue;
		}
		pthread_mutex_lock(&gate->lock);
		at_us = connection->deadline_us;
		if (at_us > now_us)
			deadline_note(gate, at_us);
		pthread_mutex_unlock(&gate->lock);
		if (at_us > 0 && at_us <= now_us)
			on_late(gate, connection);
	}
}

/* When stopping: waiting and lingering ones go, served ones lose their client. True when none is
 * left. */
static bool clear(struct gate *gate)
{
	gate_accepting_set(gate, false);
	for (size_t i = gate->n; i-- > 0;) {
		if (gate->all[i]->state == CONNECTION_SERVED)
			(void)shutdown(gate->all[i]->fd, SHUT_RDWR);
		else
			drop(gate, gate->all[i]);
	}
	return gate->n == 0;
}

/* Milliseconds to sleep. */
static int timeout_get(struct gate *gate)
{
	usec_t now_us = clock_now_us(), at_us = gate->accept_at_us;

	pthread_mutex_lock(&gate->lock);
	if (at_us == 0 || gate->sweep_at_us < at_us)
		at_us = gate->sweep_at_us;
	if (gate->stats.served > 0)
		at_us = MIN(at_us, now_us + SWEEP_PERIOD_US);
	if (gate->has_over)
		at_us = now_us;
	pthread_mutex_unlock(&gate->lock);
	if (at_us == UINT64_MAX)
		return -1;
	return at_us <= now_us ? 0 : (int)MIN((at_us - now_us) / USEC_PER_MS + 1, (usec_t)60000);
}

/* One turn of the loop. False at the end. */
static bool turn(struct gate *gate)
{
	struct epoll_event events[EVENTS_MAX];
	int n = epoll_wait(gate->epoll_fd, events, EVENTS_MAX, timeout_get(gate));
	bool is_due, is_quiesced, is_stopping;

	for (int i = 0; i < n; i++) {
		if (!is_listener(gate, events[i].data.ptr))
			on_event(gate, &events[i]);
	}
	for (int i = 0; i < n; i++) {
		if (is_listener(gate, events[i].data.ptr))
			on_listener(gate, *(const int *)events[i].data.ptr);
	}
	pthread_mutex_lock(&gate->lock);
	is_due = gate->has_over || gate->sweep_at_us <= clock_now_us();
	is_quiesced = gate->is_quiesced;
	is_stopping = gate->is_stopping;
	pthread_mutex_unlock(&gate->lock);
	if (is_due)
		sweep(gate);
	if (is_quiesced)
		gate_accepting_set(gate, false);
	else if (gate->accept_at_us > 0 && gate->accept_at_us <= clock_now_us()) {
		gate->accept_at_us = 0;
		gate_accepting_set(gate, true);
	}
	return !is_stopping || !clear(gate);
}

void *gate_main(void *arg)
{
	while (turn(arg))
		continue;
	return NULL;
}
