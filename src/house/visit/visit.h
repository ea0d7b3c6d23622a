#pragma once

#include "base/fault.h"
#include "house/transfer.h"
#include "jail/client/jaild.h"
#include "turns/attention.h"

#include <stdbool.h>
#include <stdint.h>

struct house;
struct house_session;
struct runs;
struct snapshot;
struct wire_limits;

/* A call's stay in a session: from finding or opening it to its end, which is the session's "last
 * call". It holds a connection to jaild for the calling thread. */

struct visit_request {
	const char *tenant;
	const char *key;
	const char *profile;	     /* asked for; NULL: whichever it has */
	const char *const *profiles; /* that may be asked for; NULL: all */
	const char *policy;	     /* asked for, HOUSE_EPHEMERAL or HOUSE_KEPT; NULL: whichever */
	const char *policy_default;  /* of a session that is opened and none is asked for; NULL:
				      * HOUSE_EPHEMERAL */
	const char *state;  /* asked for by a run, HOUSE_STATE or HOUSE_LIVE; NULL: whichever */
	bool opens;	    /* a session that is not there is opened */
	bool is_import;	    /* nobody else gets into a new one before the end of the visit */
	const char *run_id; /* it is a run's call, of this id; NULL: not */
	uint64_t wall_ms;   /* that the run asks for; 0: the profile's */
	struct attention *attention;
	/* It waits for a place; NULL: nobody asks. Below 0: the client is gone. Without the lock.
	 */
	int (*on_queued)(struct visit_request *request, unsigned position);
};

struct visit {
	struct house *house;
	struct house_session *session;
	struct jaild *jaild;
	uint64_t id;			  /* of the session in jaild */
	const struct wire_limits *limits; /* of the session, as its profile's name: they live as */
	const char *profile;		  /* long as the visit */
	bool is_run;
	bool is_new; /* this call opened it */
	bool is_import;
	bool is_live;
	bool is_kept;
	const char
		*restored; /* of a run: why it had stopped since the last run; a literal or NULL */
	const char
		*reset_reason; /* of a run: why its files are gone since then; a literal or NULL */
	uint64_t queue_us;
	struct transfer transfer; /* of visit_transfer; on the session's list */
};

/* The form of both names. Returns 0, or -EINVAL with INVALID_FIELD. visit_begin calls it. */
int visit_check_names(const char *tenant, const char *key, struct fault *ret_fault);

/* Whether a run may ask for so long. Returns 0, or -EINVAL with INVALID_FIELD. visit_begin calls it
 * before it opens a session. */
int visit_check_wall(uint64_t wall_ms, const char *profile, const struct wire_limits *limits,
	struct fault *ret_fault);

/* NULL, HOUSE_EPHEMERAL or HOUSE_KEPT; else -EINVAL with INVALID_FIELD. visit_begin calls it. */
int visit_check_policy(const char *policy, struct fault *ret_fault);

/* Begins; end it with visit_end if it returns 0. Else -errno with *ret_fault: NOT_FOUND,
 * INVALID_FIELD, FORBIDDEN, SESSION_BUSY, SANDBOX_BUSY, RUN_FINISHED (-ECANCELED: its attention
 * says why), SANDBOX_UNAVAILABLE, STORE_CORRUPT, STORE_FULL. A kept session that has stopped is
 * made active again by every call. */
int visit_begin(struct house *house, struct visit_request *request, struct visit *ret_visit,
	struct fault *ret_fault);
void visit_end(struct visit *visit);

/* Ends it and closes the session of an import that failed: the one that was opened for it, not
 * whatever may be under its key by now. */
void visit_end_closing(struct visit *visit);

/* Says what moves between the session and the client behind client_fd, which stays the caller's and
 * must be open until visit_end; the visit must not move in memory. When the session closes, the
 * connection is shut down, so that nothing of the session outlives it: a download's at once, an
 * upload's after HOUSE_CLOSE_WAIT_MS. A download gives its connection to jaild back: visit->jaild
 * is NULL from now on. */
void visit_transfer(struct visit *visit, enum transfer_kind kind, int client_fd);

/* The turn to list the session, one call at a time: jaild makes one listing of a session at once,
 * and each may be LISTING_SIZE_MAX of memory, so who is done with it quickly frees it first. */
void visit_listing_begin(struct visit *visit);
void visit_listing_end(struct visit *visit);

/* snapshot_fetch for the visit in a turn of its own. On an error the fault is in visit->jaild. */
int visit_list(struct visit *visit, uint32_t flags, struct snapshot *ret_snapshot);

/* Has the store hold what the call has changed, if the session is kept: the whole home, by a
 * listing with hashes and targets that was begun at mark (NULL, or too old by now: it is listed),
 * or one file that was brought in or removed. Returns 0 once it is durable, with the number of
 * things that cannot be kept, or -errno with *ret_fault (STORE_FULL and others). */
int visit_save(struct visit *visit, const struct snapshot *now, uint64_t mark,
	uint64_t *ret_dropped, struct fault *ret_fault);
int visit_save_file(struct visit *visit, const char *path, struct fault *ret_fault);
int visit_save_removal(struct visit *visit, const char *path, struct fault *ret_fault);

/* Around everything by which we change the home, from before jaild is asked until it has answered
 * (jail/files/listed.h). */
void visit_change_begin(struct visit *visit);
void visit_change_end(struct visit *visit);

/* listed_mark, _keep and _take for the visit's session. */
uint64_t visit_listing_mark(struct visit *visit);
void visit_listing_keep(struct visit *visit, uint64_t mark, struct snapshot *snapshot);
bool visit_listing_take(struct visit *visit, struct snapshot *ret_snapshot);

/* The media type of a file of the session, looked at by name and first bytes; a literal, never
 * NULL. */
const char *visit_mime(struct visit *visit, const char *path);

/* The registry of runs, borrowed. */
struct runs *visit_runs(struct house *house);
