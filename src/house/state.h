#pragma once

#include "base/assert.h"
#include "base/clock.h"
#include "extent/extent.h"
#include "house/counters.h"
#include "house/house.h"
#include "house/live.h"
#include "house/transfer.h"
#include "jail/files/listed.h"
#include "keep/table.h"
#include "turns/attention.h"
#include "turns/known.h"
#include "turns/queue.h"
#include "turns/slots.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What the files of the house share: its state, all under one mutex. The order of locks: the
 * house's, then the pool's or the registry's, which are leaves. No lock is held over a call of
 * jaild or of a callback.
 *
 * A session is in the list from its opening until nothing of it is left in jaild; so long it holds
 * a place. Whoever moves it to OPENING or CLOSING does the work, without the lock, and moves it on;
 * all others wait on `changed`. The memory goes with the last reference: the list's, and one for
 * each visit.
 */

struct jaild;
struct keep;
struct pool;
struct runs;

/* Closed sessions whose next call is told why: more than a person comes back to. */
#define HOUSE_REMEMBERED 1024
/* Why: its jaild, or the whole service, has been started anew. Kept sessions stop by the same word.
 */
#define CLOSED_RESTART KEPT_STOPPED_RESTART
/* How long a close waits for what is under way to notice, before jaild ends it. */
#define HOUSE_CLOSE_WAIT_MS 2000
/* And then for transfers whose client was cut off: their threads have only to wake up. */
#define HOUSE_CUT_WAIT_MS 2000

static_assert(KNOWN_MAX <= HOUSE_REMEMBERED, "all that are known can be told");
static_assert(QUEUE_TENANT_SIZE == HOUSE_TENANT_MAX + 1, "one size of tenants");

enum session_state {
	SESSION_OPENING,
	SESSION_OPEN,
	SESSION_CLOSING,
	SESSION_GONE
};

struct house_session {
	struct house_session *next;
	unsigned references;
	enum session_state state;
	char tenant[HOUSE_TENANT_MAX + 1];
	char key[ID_KEY_MAX + 1];
	char profile[32];
	struct wire_limits limits; /* constant, as the names */
	uint64_t id;		   /* jaild's */
	uint64_t generation;	   /* of jaild */
	struct attention *run;	   /* of the call that has or will have a run; NULL: none */
	char run_id[HOUSE_RUN_ID_MAX + 1];
	unsigned visits;	    /* calls under way */
	struct transfer *transfers; /* those of them that move a file to or from a client */
	bool is_importing;	    /* its files come in as one; nobody else has it yet */
	bool is_listing;	    /* jaild makes one listing of a session at a time */
	struct listed listed;	    /* what is known of the home */
	struct house_live live;
	usec_t opened_at_us;
	usec_t last_call_us; /* when the last visit ended */
	uint64_t runs;
	/* Of a kept one: */
	struct kept *kept;  /* its row, as long as it is in the list; NULL: ephemeral */
	struct keep *keep;  /* what the store has; owned, guarded by kept->is_saving */
	bool is_yielding;   /* somebody waited for a place when it became idle: his turn is first */
	bool is_dirty;	    /* the store lacks something that a call has changed */
	usec_t retry_at_us; /* when a stop is tried again that failed to store that */
	const char *reset;  /* why its files were gone when it opened, likewise */
	const char *restored; /* why it had stopped, until a run has told it; a literal */
};

struct house {
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* a session or the number of calls */
	pthread_cond_t timer;	/* for the thread: an earlier deadline may be there */
	pthread_t thread;
	usec_t timer_at_us; /* when it looks again by itself, UINT64_MAX: never */
	struct house_config config;
	struct pool *pool;
	struct runs *runs;
	struct counters counters;
	struct house_session *sessions;
	unsigned places; /* sessions in the list */
	struct queue queue;
	unsigned calls;			      /* under way, waiting ones too */
	struct slot closed[HOUSE_REMEMBERED]; /* keys whose files are gone, and why */
	const char *closed_why[HOUSE_REMEMBERED];
	struct slot lives[LIVE_REMEMBERED]; /* keys whose interpreter is, and what went with it */
	struct live_loss losses[LIVE_REMEMBERED];
	uint64_t seed;
	struct extent_key hash_key; /* of contents; the store's own where there is one */
	struct known *known;	    /* of the keys that clients take to be open */
	struct store *store;	    /* NULL: nothing is kept, and why */
	const char *store_trouble;
	struct kept_table kept;
	bool is_generations_due; /* the store's list of them is behind */
	bool is_draining;
	bool is_ending;
};

/* All of these are called with the lock held. */

/* The session under a tenant's key, in whatever state; NULL. Sessions of a lost jaild are dropped
 * first. */
struct house_session *house_find(struct house *house, const char *tenant, const char *key);

/* NOT_FOUND, for a session; -ENOENT. */
int house_not_there(struct fault *ret_fault);

/* Adds one in OPENING with the list's reference. */
struct house_session *house_insert(struct house *house, const char *tenant, const char *key);

/* The session is open: its key is known to a client, also to one of the next process. */
void house_note_open(struct house *house, const struct house_session *session);

/* Takes it off the list and tells everybody; reason (a literal) is kept for the next call of its
 * key, NULL: the client knows. */
void house_drop(struct house *house, struct house_session *session, const char *reason);

/* Why an open session is to be closed now, "idle", "age" or "unused", or NULL. *ret_due_us is when
 * it will be as things stand, UINT64_MAX while something is under way. */
const char *house_due(
	const struct house *house, const struct house_session *session, usec_t *ret_due_us);

/* A visit of the session has ended: wakes the thread if it has to look earlier than it would. */
void house_timer_check(struct house *house, const struct house_session *session);

/* Closes an open session: ends its run, waits a moment for its visits, and has jaild free it. The
 * lock is free meanwhile. Returns 0, or -errno with *ret_fault when jaild could not: gone it is
 * either way; but a kept one whose changes cannot be stored is OPEN again. */
int house_close_session(struct house *house, struct house_session *session, const char *reason,
	struct fault *ret_fault);

/* Closes an open session for good, from the store too. */
int house_remove_session(
	struct house *house, struct house_session *session, struct fault *ret_fault);

/* Shuts down the clients of the session's downloads, and of its uploads too with TRANSFER_UPLOAD.
 */
void house_cut(struct house_session *session, enum transfer_kind up_to);

/* Of a tenant's key, for memories; never 0. With the key "": of the tenant. */
uint64_t house_name_hash(const struct house *house, const char *tenant, const char *key);
/* Keeps the reason (a literal) for the next call of a key, whose files are gone. */
void house_remember(struct house *house, const char *tenant, const char *key, const char *reason);

/* Why the files of this key are gone since its last call, or NULL; forgotten then. */
const char *house_recall(struct house *house, const char *tenant, const char *key);

void house_reference(struct house_session *session);
void house_release(struct house_session *session);

/* Waits on `changed` until a moment of the monotonic clock. */
void house_wait(struct house *house, usec_t until_us);
