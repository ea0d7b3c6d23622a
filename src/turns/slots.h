#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Places for what is remembered of the keys of many tenants, so that none can have the others'
 * forgotten: when all are taken, the oldest of whoever has most gives way. What is remembered lies
 * beside them, under the same number.
 */

#define SLOTS_MAX 1024 /* in one row */

struct slot {
	uint64_t hash;	/* of a key; 0: free */
	uint64_t owner; /* hash of its tenant */
	uint64_t turn;	/* the larger, the later */
};

/* Takes a place for a key (not 0) and returns its number: the one that the key has, a free one, or
 * another's, which is so forgotten. n is 1 to SLOTS_MAX. What the slots hold may be junk. */
size_t slots_take(struct slot *slots, size_t n, uint64_t hash, uint64_t owner);

/* Gives back the key's place. Returns its number, or n if it has none. */
size_t slots_give(struct slot *slots, size_t n, uint64_t hash);
