#include "zygote/hot.h"

#include "base/fd.h"
#include "base/macro.h"
#include "wire/channel.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Theory of operation. While a child lives, each page that it has not written is mapped twice, and
 * each that it has written is the parent's alone: that is the bit "exclusively mapped" of the
 * parent's pagemap, which every kernel has and tells without a right (the soft-dirty bit is not
 * built into each). So the child runs a script and stops, and the parent looks at itself. A page
 * that only the child has, of memory that it has asked for, is not seen, nor would its address mean
 * anything in another copy.
 *
 * It stops twice. What it has written before it would wait for its run, each copy writes anyway;
 * how much memory of its own it has then it tells. What it writes after that is what makes a run
 * quicker, and is cut where a waiting copy would get larger than it may be.
 * A page that a copy has and would not have needed costs memory, a page that it needs and has not
 * got costs time: no list is ever wrong.
 */

#define PAGE_BYTES 4096u
#define HUGE_BYTES (2ULL << 20)
/* By a fault a page alone costs 3.1 us, by a call for it 4.3, by one for many 2.8. */
#define POPULATE_MIN (2 * PAGE_BYTES)
/* A print's list has 300. */
#define RANGES_MAX 1024
#define LEARN_MS   (60 * 1000)
/* Of pagemap that are read at once. */
#define ENTRIES_MAX 512

#define PAGEMAP_PRESENT	  (1ULL << 63)
#define PAGEMAP_FILE	  (1ULL << 61)
#define PAGEMAP_EXCLUSIVE (1ULL << 56)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

/* Sorted; neighbours are not adjacent. */
struct pages {
	unsigned n;	/* ranges */
	uint32_t count; /* pages */
	struct hot_span ranges[RANGES_MAX];
};

static struct pages hot;
static int child_socket = -1;

static bool pages_have(const struct pages *pages, uint64_t address)
{
	unsigned low = 0, high = pages->n;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (address >= pages->ranges[middle].to)
			low = middle + 1;
		else if (address < pages->ranges[middle].from)
			high = middle;
		else
			return true;
	}
	return false;
}

/* Addresses come in order. */
static void pages_add(struct pages *pages, uint64_t address)
{
	unsigned n = pages->n;

	if (n > 0 && pages->ranges[n - 1].to == address)
		pages->ranges[n - 1].to += PAGE_BYTES;
	else if (n < RANGES_MAX)
		pages->ranges[pages->n++] = (struct hot_span){ address, address + PAGE_BYTES };
	else
		return;
	pages->count++;
}

/* What the parent looks at. */
struct look {
	int pagemap_fd;
	const struct hot_span *spans;
	size_t n_spans;
};

/* Adds the pages of a span that are ours alone now: those of known, and `more` others. */
static int span_look(struct pages *pages, const struct pages *known, uint32_t *more,
	const struct look *look, const struct hot_span *span)
{
	static uint64_t entries[ENTRIES_MAX];
	uint64_t at = span->from;

	while (at < span->to) {
		size_t wanted = MIN((size_t)((span->to - at) / PAGE_BYTES), (size_t)ENTRIES_MAX);
		ssize_t n = pread(look->pagemap_fd, entries, wanted * sizeof(entries[0]),
			(off_t)(at / PAGE_BYTES * sizeof(entries[0])));

		if (n < (ssize_t)sizeof(entries[0]))
			return n < 0 ? -errno : 0;
		for (size_t i = 0; i < (size_t)n / sizeof(entries[0]); i++, at += PAGE_BYTES) {
			bool is_known = pages_have(known, at);

			if (!(entries[i] & PAGEMAP_PRESENT) || entries[i] & PAGEMAP_FILE ||
				!(entries[i] & PAGEMAP_EXCLUSIVE) || (!is_known && *more == 0))
				continue;
			*more -= !is_known;
			pages_add(pages, at);
		}
	}
	return 0;
}

static int memory_look(
	struct pages *pages, const struct pages *known, uint32_t more, const struct look *look)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < look->n_spans; i++)
		r = span_look(pages, known, &more, look, &look->spans[i]);
	return r;
}

/* Until the child has stopped, with how many pages of its own. */
static int child_await(int fd, uint32_t *ret_own)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	int n = poll(&polled, 1, LEARN_MS);

	if (n <= 0)
		return n < 0 ? -errno : -ETIMEDOUT;
	return read(fd, ret_own, sizeof(*ret_own)) == sizeof(*ret_own) ? 0 : -ECHILD;
}

static int child_watch(int fd, const struct look *look, uint32_t pages_max)
{
	static struct pages waiting;
	static const struct pages none;
	uint32_t own = UINT32_MAX, at_end = 0;
	int r = child_await(fd, &own);

	if (r == 0)
		r = memory_look(&waiting, &none, UINT32_MAX, look);
	if (r == 0)
		r = fd_write_full(fd, "", 1);
	if (r == 0)
		r = child_await(fd, &at_end);
	if (r == 0)
		r = memory_look(&hot, &waiting, own < pages_max ? pages_max - own : 0, look);
	return r;
}

int hot_learn(int pagemap_fd, const struct hot_span *spans, size_t n_spans, uint32_t pages_max)
{
	const struct look look = { pagemap_fd, spans, n_spans };
	int sockets[2];
	int r = channel_pair(sockets);
	pid_t pid;

	if (r < 0)
		return r;
	pid = _Fork();
	if (pid == 0) {
		(void)fd_close(sockets[0]);
		child_socket = sockets[1];
		return 1;
	}
	(void)fd_close(sockets[1]);
	r = pid < 0 ? -errno : child_watch(sockets[0], &look, pages_max);
	if (r < 0)
		hot = (struct pages){ 0 };
	(void)fd_close(sockets[0]);
	if (pid > 0) {
		(void)kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	return r;
}

void hot_align(size_t piece)
{
	static void *filler = MAP_FAILED;
	static size_t size;
	uint64_t end;

	if (filler != MAP_FAILED)
		(void)munmap(filler, size);
	filler = MAP_FAILED;
	if (piece == 0)
		return;
	filler = mmap(NULL, piece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (filler == MAP_FAILED)
		return;
	(void)munmap(filler, piece);
	end = (uintptr_t)filler + piece;
	size = end & (HUGE_BYTES - 1);
	filler = size == 0 ? MAP_FAILED
			   : mmap((void *)(uintptr_t)(end - size), size, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

bool hot_is_child(void)
{
	return child_socket >= 0;
}

void hot_child_stop(uint32_t own_pages)
{
	char word;

	if (fd_write_full(child_socket, &own_pages, sizeof(own_pages)) < 0 ||
		read(child_socket, &word, 1) != 1)
		_exit(1);
}

uint32_t hot_count(void)
{
	return hot.count;
}

void hot_settle(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < hot.n; i++) {
		uint64_t from = hot.ranges[i].from, size = hot.ranges[i].to - from;

		if (madvise((void *)(uintptr_t)from, size, MADV_POPULATE_WRITE) == 0)
			hot.ranges[n++] = hot.ranges[i];
		else
			hot.count -= (uint32_t)(size / PAGE_BYTES);
	}
	hot.n = n;
}

void hot_populate(void)
{
	for (unsigned i = 0; i < hot.n; i++) {
		uint64_t size = hot.ranges[i].to - hot.ranges[i].from;
		volatile char *at = (volatile char *)(uintptr_t)hot.ranges[i].from;

		if (size <= POPULATE_MIN)
			for (uint64_t offset = 0; offset < size; offset += PAGE_BYTES)
				at[offset] = at[offset];
		else
			(void)madvise(
				(void *)(uintptr_t)hot.ranges[i].from, size, MADV_POPULATE_WRITE);
	}
}

void hot_gather(const struct hot_span *spans, size_t n_spans)
{
	for (size_t i = 0; i < n_spans; i++) {
		uint64_t from = (spans[i].from + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
		uint64_t to = spans[i].to & ~(HUGE_BYTES - 1);

		if (from < to)
			(void)madvise((void *)(uintptr_t)from, to - from, MADV_COLLAPSE);
	}
}
