#pragma once

#include "house/state.h"

/*
 * Sessions of the policy `kept` in the house. A session's row in the table is there from its
 * opening on; while it is active the session points to it. Who saves, removes or restores does so
 * without the lock, and says so in the row: is_saving, is_removing, or the session's OPENING.
 *
 * All with the lock held, which is left where a function says so.
 */

struct jaild;
struct snapshot;

/* Makes a session that is being opened a kept one; row: as it was stopped, or NULL for a new one.
 */
void house_kept_begin(struct house *house, struct house_session *session, struct kept *row);

/* The session is off the list: it has stopped, or was never stored and is forgotten. */
void house_kept_drop(struct house *house, struct house_session *session, const char *reason);

/* house_due for a kept session. */
const char *house_kept_due(
	const struct house *house, const struct house_session *session, usec_t *ret_due_us);

/* A kept session has become idle: whoever waits for a place may have its place now. */
void house_kept_idle(struct house *house, struct house_session *session);

/* True if others than this waiter still wait for the place of a session that yields it. */
bool house_kept_yields(
	struct house *house, struct house_session *session, const struct queue_waiter *waiter);

/* Stops the kept session that was idle longest, for another one's place. Returns true if there was
 * one; the lock was left. */
bool house_kept_evict(struct house *house);

/* Removes one stopped session that was unused for too long. Returns true if there was one, and the
 * lock was left; else *ret_next_us is lowered to when there may be. */
bool house_kept_expire(struct house *house, usec_t *ret_next_us);

/* Removes a stopped session whose row says is_removing. The lock is left. Returns 0 once it is gone
 * for good, or -errno with *ret_fault: it is still there. */
int house_kept_remove(struct house *house, struct kept *row, struct fault *ret_fault);

/* The same for one that cannot be read; -ENOENT (without fault) if there is none. */
int house_kept_remove_broken(
	struct house *house, const char *tenant, const char *key, struct fault *ret_fault);

/* True, with STORE_CORRUPT, if this is a session that cannot be read. */
bool house_kept_is_broken(
	struct house *house, const char *tenant, const char *key, struct fault *ret_fault);

/* Writes the store's list of generations if it is behind. Returns true if so; the lock was left. */
bool house_kept_note(struct house *house);

/* What a save is of. */
struct kept_save {
	struct jaild *jaild;
	const struct snapshot *now; /* of the whole home; NULL: it is listed, or path */
	uint64_t mark;		    /* of now (jail/files/listed.h) */
	const char *path;	    /* of one file, or NULL */
	bool is_removal;	    /* of that file */
	uint64_t dropped;	    /* out: what is not kept */
};

/* Has the store hold what changed. The lock is left. Returns 0 once it is durable, or -errno with
 * *ret_fault; then the session is dirty: the next save is of the whole home. */
int house_kept_save(struct house *house, struct house_session *session, struct kept_save *save,
	struct fault *ret_fault);

/* Saves a dirty session in which nothing is going on. The lock is left. */
int house_kept_flush(struct house *house, struct house_session *session, struct fault *ret_fault);

/* jaild makes one listing of a session at a time: waits for its end, and keeps others waiting until
 * house_listing_end. Both without the lock, which they take. */
void house_listing_begin(struct house *house, struct house_session *session);
void house_listing_end(struct house *house, struct house_session *session);

/* snapshot_fetch between the two. */
int house_list_home(struct house *house, struct house_session *session, struct jaild *jaild,
	uint32_t flags, struct snapshot *ret_snapshot);
