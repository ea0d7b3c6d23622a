#pragma once

#include "base/fault.h"
#include "store/manifest.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Between the home of a kept session, which jaild has, and the store: what is kept are regular
 * files (holes stay holes), further names of them, folders, links as text, modes and times. The
 * rest (sockets, fifos, devices, names that cannot be said) is dropped, and counted.
 */

struct jaild;
struct snapshot;

/* What the store has of an active session. One thread at a time. */
struct keep {
	struct store *store; /* borrowed */
	char name[STORE_NAME_SIZE];
	struct manifest manifest; /* generation 0: nothing yet */
};

/* A home, by the connection that the calling thread holds. */
struct keep_home {
	struct jaild *jaild;
	uint64_t session;
};

/* For a session that the store does not have yet. End it with keep_fini. */
void keep_init(struct keep *keep, struct store *store, const char *tenant, const char *key,
	const char *profile);
void keep_fini(struct keep *keep);

/*
 * Makes the store hold what the home does, by a listing of it with hashes and targets. Does nothing
 * where nothing changed. *ret_dropped counts what is not kept. Returns 0 once it is durable, or
 * -errno with *ret_fault (STORE_FULL, SANDBOX_UNAVAILABLE, INTERNAL): then the store has the state
 * of before, whole.
 */
int keep_save(struct keep *keep, const struct keep_home *home, const struct snapshot *now,
	uint64_t *ret_dropped, struct fault *ret_fault);

/* The same for one file that was just brought in or removed, whatever else is going on in the home;
 * of the rest the store has what it had. */
int keep_save_file(
	struct keep *keep, const struct keep_home *home, const char *path, struct fault *ret_fault);
int keep_save_removal(struct keep *keep, const char *path, struct fault *ret_fault);

/* Reads the session from the store and fills an empty home. least_generation: an older state is
 * refused. Returns 0, or -errno with *ret_fault (STORE_CORRUPT, HOME_FULL, SANDBOX_UNAVAILABLE):
 * then the home holds a part and is to be closed. */
int keep_restore(struct keep *keep, const struct keep_home *home, uint64_t least_generation,
	struct fault *ret_fault);

/* Says what an error of store/ means. Returns it. */
int keep_fault(int error, struct fault *ret_fault);
