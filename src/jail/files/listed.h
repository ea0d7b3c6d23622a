#pragma once

#include "jail/files/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What a home held when it was listed last, for as long as nothing can have changed it: between two
 * runs of a session no process of it runs, so the listing after one is the listing before the next,
 * unless we ourselves have brought something in or taken it away. No lock of its own.
 */

struct listed {
	struct snapshot last;
	bool is_known;	   /* last is what the home holds */
	unsigned changing; /* changes of ours that are under way */
	uint64_t changes;  /* counts their beginnings */
};

/* Bytes of a listing that is kept: some 400 files. A larger home takes longer to run in than to
 * list, and a session that rests must cost little. */
#define LISTED_SIZE_MAX ((size_t)64 * 1024)

/* A listing that fits at no moment. */
#define LISTED_NEVER UINT64_MAX

/* A home that was just made: it is known to be empty. */
void listed_init(struct listed *listed);
void listed_fini(struct listed *listed);

/* We are about to change the home, and have changed it or failed to. In between and from then on
 * nothing is known. */
void listed_change_begin(struct listed *listed);
void listed_change_end(struct listed *listed);

/* Before a listing is made: the moment that listed_keep wants. */
uint64_t listed_mark(const struct listed *listed);

/* True if we have not changed the home since mark. */
bool listed_is_at(const struct listed *listed, uint64_t mark);

/* Keeps a listing that was begun at mark, or frees it if it cannot stand for the home later: the
 * home was changed meanwhile, the listing is cut, too large, or lacks a hash. Takes *snapshot over,
 * which is empty then. */
void listed_keep(struct listed *listed, uint64_t mark, struct snapshot *snapshot);

/* Before something runs: hands the listing over, and nothing is known any more. False if there is
 * none that would do: a change that carries the same time as the newest of the listing could not be
 * told from it (git's "racy" rule). now_ns is CLOCK_REALTIME_COARSE. */
bool listed_take(struct listed *listed, int64_t now_ns, struct snapshot *ret_snapshot);
