#include "init/live.h"

#include "base/clock.h"
#include "base/fd.h"
#include "init/children.h"
#include "jail/inside/identity.h"
#include "jail/inside/script.h"
#include "jail/inside/wall.h"
#include "jail/plan/live.h"
#include "wire/channel.h"
#include "wire/message.h"
#include "wire/package.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Theory of operation. The interpreter is a script like any other; what it executes reads calls
 * from a socket whose other end is ours. A call goes on from jaild to it with its descriptors, and
 * its one word "done" goes back to jaild, which then freezes the whole cell, us included.
 *
 * The code and the input of a call are copied first: they come in memory that is charged to our
 * client, and an interpreter that lives on could keep every one of them for ever. The copies are
 * made in here, so they are charged to the session, and what it keeps counts for it. Code is short
 * as a rule: then it goes to the interpreter within the word for the call. The streams'
 * write ends and the report it may keep: their pages are charged to whoever writes them.
 *
 * Anybody in the cell can write to that socket. What is read from it is one word of a fixed size,
 * without descriptors, while a call is under way; a word that is none, or of another call, is
 * dropped. An interpreter that does not take its call, or has closed its end, is over.
 */

struct live {
	pid_t pid;
	int signal_fd;
	int socket_fd;
	uint32_t number; /* of the call under way, 0: none */
	usec_t deadline_us;
};

/* From the hang-up of a process that ends until it can be waited for. */
#define HANG_UP_US (1000 * 1000ULL)

/* Stale words that are dropped before a call: more than a socket's buffer holds. */
#define STALE_MAX 4096

static int nonblocking_set(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

/* Our end never waits for the script; its end does, for its next call. */
static int sockets_make(int *ret_ours, int *ret_theirs)
{
	int pair[2];

	if (syscall(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	*ret_ours = pair[0];
	*ret_theirs = pair[1];
	return nonblocking_set(pair[0]);
}

static int null_open(int mode)
{
	int fd = open("/dev/null", mode | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The process that jaild may interrupt: by a descriptor, which no other process can come behind. */
static int started_tell(pid_t pid)
{
	struct init_event started = { .kind = INIT_STARTED };
	AUTO_CLOSE int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pidfd < 0)
		return -errno;
	return channel_send(INIT_CONTROL_FD, &started, sizeof(started), &pidfd, 1);
}

static void interpreter_start(struct live *live, const struct cell *cell)
{
	struct script script = { .plan = &cell->plan,
		.filter = cell->filter,
		.filter_count = cell->filter_count,
		.landlock_fd = cell->landlock_fd };
	AUTO_CLOSE int theirs = -1;
	AUTO_CLOSE int null_fd = -1;
	int fds[WIRE_RUN_FDS];

	wall(STAGE_LIVE_SOCKET, sockets_make(&live->socket_fd, &theirs));
	live->signal_fd = children_open();
	wall_check(STAGE_LIVE_SOCKET, live->signal_fd);
	null_fd = null_open(O_RDWR); /* which each stream is connected to in its own way */
	wall_check(STAGE_LIVE_SOCKET, null_fd);
	fds[WIRE_RUN_PACKAGE] = -1;
	fds[WIRE_RUN_STDIN] = fds[WIRE_RUN_STDOUT] = fds[WIRE_RUN_STDERR] = null_fd;
	fds[WIRE_RUN_REPORT] = theirs;
	script.fds = fds;
	script_prepare_live(&script);
	live->pid = script_start(&script);
	/* checked, but past the point where a test may make it fail: the script runs */
	wall_check(STAGE_SCRIPT_CAPABILITIES, identity_drop_capabilities());
	wall_check(STAGE_LIVE_SOCKET, started_tell(live->pid));
}

/* The size of a client's memfd, or -errno. */
static off_t size_get(int fd, off_t size_max)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	return S_ISREG(status.st_mode) && status.st_size <= size_max ? status.st_size : -EBADMSG;
}

/* A memfd of the cell's own with the same `left` bytes in the place of *fd. */
static int copy_take(int *fd, off_t left)
{
	AUTO_CLOSE int copy_fd = -1;

	copy_fd = (int)syscall(SYS_memfd_create, "call", MFD_CLOEXEC);
	if (copy_fd < 0)
		return -errno;
	for (off_t at = 0; left > 0;) {
		long n = syscall(SYS_sendfile, copy_fd, *fd, &at, (size_t)left);

		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		left -= n;
	}
	if (syscall(SYS_lseek, copy_fd, 0L, SEEK_SET) < 0)
		return -errno;
	(void)fd_close(*fd);
	*fd = TAKE_FD(copy_fd);
	return 0;
}

/* A stream of the client's: its /dev/null would be the host's own, its file would stay with us. */
static int stream_take(int *fd, int mode)
{
	struct stat status;
	int null_fd;

	if (fstat(*fd, &status) < 0)
		return -errno;
	if (S_ISREG(status.st_mode))
		return status.st_size <= LIVE_STDIN_MAX ? copy_take(fd, status.st_size) : -EBADMSG;
	if (!S_ISCHR(status.st_mode))
		return 0;
	null_fd = null_open(mode);
	if (null_fd < 0)
		return null_fd;
	(void)fd_close(*fd);
	*fd = null_fd;
	return 0;
}

/* The next word from the script: 1 if it is the end of the call, 0 if it is nothing, -errno. */
static int word_read(const struct live *live, struct live_word *word)
{
	struct iovec part = { .iov_base = word, .iov_len = sizeof(*word) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 }; /* no room for descriptors */
	ssize_t n = recvmsg(live->socket_fd, &message, 0);

	if (n < 0)
		return -errno;
	if (n == 0)
		return -EPIPE;
	return n == sizeof(*word) && !(message.msg_flags & MSG_TRUNC) &&
	       word->number == live->number;
}

/* What was written there since the last call ended. */
static int stale_drop(const struct live *live)
{
	struct live_word word;

	for (int i = 0; i < STALE_MAX; i++) {
		int r = word_read(live, &word);

		if (r < 0)
			return r == -EAGAIN ? 0 : r;
	}
	return -EPROTO;
}

/* A short one is read into the word that goes to the interpreter, in the place of *fd. */
static int package_take(int *fd, struct live_hand *hand)
{
	off_t size = size_get(*fd, PACKAGE_SIZE_MAX);

	if (size < 0)
		return (int)size;
	hand->word.code = (uint32_t)size;
	if (size > (off_t)sizeof(hand->package))
		return copy_take(fd, size);
	if (pread(*fd, hand->package, (size_t)size, 0) != size)
		return -EBADMSG;
	*fd = fd_close(*fd);
	return 0;
}

static int call_hand(struct live *live, int *fds, size_t n_fds)
{
	static struct live_hand hand; /* not on the stack, which would be cleared */
	size_t first, size = sizeof(hand.word);
	int r = package_take(&fds[WIRE_LIVE_PACKAGE], &hand);

	if (r == 0)
		r = stream_take(&fds[WIRE_LIVE_STDOUT], O_WRONLY);
	if (r == 0)
		r = stream_take(&fds[WIRE_LIVE_STDERR], O_WRONLY);
	if (r == 0 && n_fds > WIRE_LIVE_STDIN)
		r = stream_take(&fds[WIRE_LIVE_STDIN], O_RDONLY);
	if (r == 0)
		r = stale_drop(live);
	if (r < 0)
		return r;
	hand.word.number = live->number;
	first = fds[WIRE_LIVE_PACKAGE] < 0;
	if (first > 0)
		size += hand.word.code;
	return channel_send(live->socket_fd, &hand, size, fds + first, n_fds - first);
}

/* A call from jaild, which has no second one while one is under way. */
static int call_begin(struct live *live)
{
	int fds[CHANNEL_FDS_MAX];
	struct live_call call;
	size_t n_fds;
	ssize_t n = channel_receive(INIT_CONTROL_FD, &call, sizeof(call), fds, &n_fds);
	int r;

	if (n <= 0)
		return n < 0 ? (int)n : -EPIPE;
	if (n != sizeof(call) || call.magic != LIVE_MAGIC || n_fds < WIRE_LIVE_STDIN ||
		n_fds > WIRE_RUN_FDS || live->number != 0)
		return -EBADMSG;
	live->number = call.number;
	live->deadline_us = clock_now_us() + call.watchdog_ms * 1000;
	r = call_hand(live, fds, n_fds);
	channel_close_fds(fds, n_fds);
	return r;
}

/* The script's socket has something to read. */
static int call_go_on(struct live *live)
{
	struct init_event done = { .kind = INIT_DONE };
	struct live_word word;
	int r = word_read(live, &word);

	if (r == -EPIPE || r == -ECONNRESET) { /* it ends, most likely, and its end is to be told */
		live->socket_fd = fd_close(live->socket_fd);
		live->deadline_us = clock_now_us() + HANG_UP_US;
		return 0;
	}
	if (r <= 0)
		return r == -EAGAIN ? 0 : r;
	live->number = 0;
	done.status = (int)(word.code & 255);
	return channel_send(INIT_CONTROL_FD, &done, sizeof(done), NULL, 0);
}

/* Waits for one thing and does it. Below 0: it is over. */
static int step(struct live *live)
{
	struct pollfd polls[3] = { { .fd = INIT_CONTROL_FD, .events = POLLIN },
		{ .fd = live->signal_fd, .events = POLLIN },
		{ .fd = live->number != 0 ? live->socket_fd : -1, .events = POLLIN } };
	usec_t now = clock_now_us();
	int wait_ms = -1;

	if (live->number != 0) {
		if (now >= live->deadline_us)
			return -ETIMEDOUT;
		wait_ms = (int)((live->deadline_us - now) / 1000) + 1;
	}
	if (poll(polls, 3, wait_ms) < 0)
		return errno == EINTR ? 0 : -errno;
	children_heard(live->signal_fd);
	if (polls[2].revents) {
		int r = call_go_on(live);

		if (r < 0)
			return r;
	}
	return polls[0].revents ? call_begin(live) : 0;
}

void live_serve(const struct cell *cell)
{
	struct init_event event = { 0 };
	struct live live = { .socket_fd = -1, .signal_fd = -1 };
	int r = 0;

	interpreter_start(&live, cell);
	while (r >= 0 && !children_reap(live.pid, &event))
		r = step(&live);
	if (r >= 0)
		(void)channel_send(INIT_CONTROL_FD, &event, sizeof(event), NULL, 0);
	_exit(0);
}
