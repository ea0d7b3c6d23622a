#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The zygote's memory, arranged for its copies. A copy shares all pages with the zygote until it
 * writes them, one fault and one copied page at a time. Those that every run writes it has copied
 * while it waits; which they are is learnt at the zygote's start from a script of ours, never from
 * a client's.
 */

/* Addresses [from, to) of a private mapping that can be written. */
struct hot_span {
	uint64_t from;
	uint64_t to;
};

/*
 * Forks a child without the C library's handlers, like a copy. Returns 1 in it: it goes the way of
 * a copy, and calls hot_child_stop where that would wait for its run and where it would end.
 * Returns 0 in the caller when it has done so and the list is made, such that a copy that waits has
 * at most pages_max pages of its own, or -errno: -ETIMEDOUT when the child takes more than a
 * minute, -ECHILD when it has died. pagemap_fd is the caller's /proc/self/pagemap, spans are
 * sorted. pagemap(5)
 */
int hot_learn(int pagemap_fd, const struct hot_span *spans, size_t n_spans, uint32_t pages_max);

/* True in that child. */
bool hot_is_child(void);

/* In it: stops until the parent has looked, the second time for good. own_pages counts the first
 * time: what it has for itself alone (smaps_rollup of proc_pid_smaps(5)); UINT32_MAX: not known. */
void hot_child_stop(uint32_t own_pages);

/* How many pages the list has. */
uint32_t hot_count(void);

/* Before the first copy, when nothing is freed any more: forgets what cannot be written (any more),
 * as hot_populate writes without asking. */
void hot_settle(void);

/* In a copy: gets pages of its own for those of the list, as far as the kernel likes. */
void hot_populate(void);

/* Has memory that is asked for from now on, in pieces of this size, which the kernel lays from
 * above, end where a huge page does; with 0, no longer. Without effect where the kernel lays it
 * elsewhere. */
void hot_align(size_t piece);

/* Puts what the spans hold into huge pages, as far as the kernel likes: a copy is then made, and
 * ends, in a quarter of the time. After hot_learn, which cannot see through them. madvise(2) */
void hot_gather(const struct hot_span *spans, size_t n_spans);
