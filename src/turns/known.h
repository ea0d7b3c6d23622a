#pragma once

#include <stdint.h>

/*
 * The keys that clients take to be open, as hashes, in memory that outlives this process: whoever
 * started us holds it and gives it to the next one, which so can tell each of these clients that
 * what its session held is gone. Nothing else is in it, and what is read from it is never trusted:
 * the worst that junk in it does is a word too much or too few.
 */

/* Bytes of that memory: a memfd of exactly this size that can neither grow nor shrink. */
#define KNOWN_SIZE 8192
/* More than that forget the oldest. */
#define KNOWN_MAX (KNOWN_SIZE / 8 - 2)

struct known {
	uint64_t seed; /* of the hashes; 0: nobody was here yet */
	uint64_t next;
	uint64_t hashes[KNOWN_MAX]; /* 0: free */
};

/* Maps the memory behind fd (closed in any case; -1: some of our own, which ends with us). Returns
 * 0, -EINVAL for anything else than such a memfd, or -errno; *ret_known is never unmapped. */
int known_open(int fd, struct known **ret_known);

void known_add(struct known *known, uint64_t hash);
void known_remove(struct known *known, uint64_t hash);
