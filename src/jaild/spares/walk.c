#include "jaild/spares/walk.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/child.h"
#include "base/fd.h"
#include "base/macro.h"
#include "jaild/answer.h"
#include "walker/walker.h"
#include "wire/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A home can hold tens of thousands of entries that a script has made to be slow. So it is read by
 * a child, mostly one that waits for this (jaild/spares/walkers.h), which stops by itself after
 * WALK_LIMIT_US with what it has, and is killed somewhat later. The child ends with the number of
 * entries in the listing's last bytes (struct walker_result).
 */

/* What getdents64(2) says of "." and ".." in a folder of tmpfs, which lists them first: two records
 * of a head of 19 bytes, the name and its NUL, rounded up to eight. */
#define DOTS_SIZE 48

#define WALK_KILL_US (3 * 1000 * 1000ULL)

static void walk_free(struct walk *walk)
{
	struct session *session = walk->session;
	struct jaild *jaild = session->jaild;

	loop_unwatch(&jaild->loop, &walk->death);
	loop_timer_clear(&jaild->loop, &walk->timer);
	(void)fd_close(walk->pidfd);
	(void)fd_close(walk->listing_fd);
	session->walk = NULL;
	free(walk);
	walkers_later(jaild);
	session_settle(session);
}

/* Takes the result off the end of the listing and seals it. */
static int listing_close(int fd, struct walker_result *ret_result)
{
	struct stat status;
	off_t size;

	if (fstat(fd, &status) < 0)
		return -errno;
	size = status.st_size - (off_t)sizeof(*ret_result);
	if (size < 0 || pread(fd, ret_result, sizeof(*ret_result), size) != sizeof(*ret_result))
		return -EIO;
	if (ftruncate(fd, size) < 0)
		return -errno;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return -errno;
	ret_result->size_bytes = (uint64_t)size;
	return 0;
}

static void on_death(struct watch *watch)
{
	struct walk *walk = container_of(watch, struct walk, death);
	struct jaild *jaild = walk->session->jaild;
	union wire_any message = { 0 };
	struct walker_result result;
	siginfo_t info = { 0 };
	int r;

	if (waitid(P_PIDFD, (id_t)walk->pidfd, &info, WEXITED | WNOHANG) < 0)
		info.si_code = CLD_KILLED;
	r = info.si_code == CLD_EXITED && info.si_status == 0
		    ? listing_close(walk->listing_fd, &result)
		    : -ETIMEDOUT;
	if (r < 0) {
		answer_refused(jaild, &walk->reply, r);
	} else {
		message.listing_is.entries = result.entries;
		message.listing_is.is_truncated = result.cut;
		message.listing_is.size_bytes = result.size_bytes;
		answer_send(jaild, &walk->reply, &message, WIRE_LISTING_IS, walk->listing_fd);
	}
	walk_free(walk);
}

void walk_stop(struct walk *walk)
{
	(void)syscall(SYS_pidfd_send_signal, walk->pidfd, SIGKILL, NULL, 0);
}

static void on_limit(struct timer *timer)
{
	walk_stop(container_of(timer, struct walk, timer));
}

/* A tmpfs counts its inodes; the first is the root. True is certain: what counts as one more may be
 * an upload that has no name yet, or an attribute. */
static bool has_no_inode(const struct session *session)
{
	struct statfs status;

	return fstatfs(session->home.fd, &status) == 0 && status.f_files > 0 &&
	       status.f_files - status.f_ffree == 1;
}

bool walk_home_is_empty(const struct session *session)
{
	AUTO_CLOSE int fd = -1;
	char entries[DOTS_SIZE + 8];

	if (has_no_inode(session))
		return true;
	fd = openat(session->home.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_getdents64, fd, entries, sizeof(entries)) != DOTS_SIZE)
		return false;
	/* an entry that did not fit is EINVAL here */
	return syscall(SYS_getdents64, fd, entries, sizeof(entries)) == 0;
}

/* The listing of an empty home, which needs no process to be read by. */
static int empty_answer(struct jaild *jaild, const struct reply *reply)
{
	union wire_any message = { 0 };
	AUTO_CLOSE int fd = -1;
	int r = fd_memfd_sealed("listing", "", 0, &fd);

	if (r == 0)
		answer_send(jaild, reply, &message, WIRE_LISTING_IS, fd);
	return r;
}

/* Has a walker list the home: the one that waits, or one that is made now. Returns its pid or
 * -errno. */
static pid_t walker_get(const struct session *session, int listing_fd,
	const struct wire_list *request, int *ret_pidfd)
{
	struct walkers_work work = { .home_fd = session->home.fd,
		.listing_fd = listing_fd,
		.request.flags = request->flags };
	pid_t pid;

	static_assert(sizeof(work.request.hash_key) == sizeof(request->hash_key), "one key");
	memcpy(&work.request.hash_key, request->hash_key, sizeof(request->hash_key));
	if (walkers_take(session->jaild, &work, &pid, ret_pidfd) == 0)
		return pid;
	pid = walkers_fork(ret_pidfd);
	if (pid == 0)
		walker_run(session->home.fd, listing_fd, &work.request);
	return pid;
}

int walk_start(struct session *session, const struct reply *reply, const struct wire_list *request)
{
	struct jaild *jaild = session->jaild;
	AUTO_CLOSE int listing_fd = -1;
	struct walk *walk;
	int pidfd = -1, r;
	pid_t pid;

	if (request->flags & ~(uint32_t)(WIRE_LIST_HASH | WIRE_LIST_SETTLE | WIRE_LIST_TARGETS))
		return -ERANGE;
	if (session->walk)
		return -EBUSY;
	if (walk_home_is_empty(session))
		return empty_answer(jaild, reply);
	listing_fd = memfd_create("listing", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (listing_fd < 0)
		return -errno;
	pid = walker_get(session, listing_fd, request, &pidfd);
	if (pid < 0)
		return pid;
	walk = xcalloc(1, sizeof(*walk));
	*walk = (struct walk){ .session = session,
		.pid = pid,
		.reply = *reply,
		.pidfd = pidfd,
		.listing_fd = TAKE_FD(listing_fd),
		.death.fd = -1 };
	session->walk = walk;
	r = loop_watch(&jaild->loop, &walk->death, pidfd, on_death);
	if (r < 0) {
		child_end(pidfd);
		walk_free(walk);
		return r;
	}
	loop_timer_set(&jaild->loop, &walk->timer, WALK_KILL_US, on_limit);
	return 0;
}
