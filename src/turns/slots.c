/*
 * Theory of operation: the rows are short and what they remember is needed after losses only, so
 * all is a walk over them. Who has most is found by sorting the owners, which happens only when no
 * place is free. Whoever takes one more counts with it: who has as many as another already gives
 * way itself.
 */
#include "turns/slots.h"

#include "base/assert.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Whose place is to be taken for one more of the owner's. */
static uint64_t loser_choose(const struct slot *slots, size_t n, uint64_t owner)
{
	uint64_t owners[SLOTS_MAX], richest = 0;
	size_t most = 0, own = 0;

	for (size_t i = 0; i < n; i++) {
		owners[i] = slots[i].owner;
		own += owners[i] == owner;
	}
	qsort(owners, n, sizeof(owners[0]), compare);
	for (size_t i = 0, run = 0; i < n; i++) {
		run = i > 0 && owners[i] == owners[i - 1] ? run + 1 : 1;
		if (run > most) {
			most = run;
			richest = owners[i];
		}
	}
	return own > 0 && own + 1 > most ? owner : richest;
}

size_t slots_take(struct slot *slots, size_t n, uint64_t hash, uint64_t owner)
{
	size_t own = n, unused = n, oldest = n;
	uint64_t turn = 0, loser;

	assert(hash != 0 && n > 0 && n <= SLOTS_MAX);
	for (size_t i = 0; i < n; i++) {
		if (slots[i].hash == hash)
			own = i;
		else if (slots[i].hash == 0)
			unused = i;
		if (slots[i].hash != 0 && slots[i].turn > turn)
			turn = slots[i].turn;
	}
	if (own == n)
		own = unused;
	if (own == n) {
		loser = loser_choose(slots, n, owner);
		for (size_t i = 0; i < n; i++)
			if (slots[i].owner == loser &&
				(oldest == n || slots[i].turn < slots[oldest].turn))
				oldest = i;
		own = oldest;
	}
	slots[own] = (struct slot){ .hash = hash, .owner = owner, .turn = turn + 1 };
	return own;
}

size_t slots_give(struct slot *slots, size_t n, uint64_t hash)
{
	for (size_t i = 0; i < n; i++)
		if (slots[i].hash == hash) {
			slots[i] = (struct slot){ .hash = 0 };
			return i;
		}
	return n;
}
