#pragma once

#include "turns/slots.h"

#include <stdint.h>

/*
 * The keys that clients take to be open, as hashes, in memory that outlives this process: whoever
 * started us holds it and gives it to the next one, which so can tell each of these clients that
 * what its session held is gone. Nothing else is in it, and what is read from it is never trusted:
 * the worst that junk in it does is a word too much or too few.
 */

#define KNOWN_MAX 1024 /* more forget the oldest of whoever has most */
/* Bytes of that memory: a memfd of exactly this size that can neither grow nor shrink. */
#define KNOWN_SIZE (8 + KNOWN_MAX * sizeof(struct slot))

struct known {
	uint64_t seed; /* of the hashes; 0: nobody was here yet */
	struct slot slots[KNOWN_MAX];
};

/* Maps the memory behind fd (closed in any case; -1: some of our own, which ends with us). Returns
 * 0, -EINVAL for anything else than such a memfd, or -errno; *ret_known is never unmapped. */
int known_open(int fd, struct known **ret_known);

/* hash: of a key; owner: of its tenant. */
void known_add(struct known *known, uint64_t hash, uint64_t owner);
void known_remove(struct known *known, uint64_t hash);
