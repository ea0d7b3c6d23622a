#pragma once

#include "base/fault.h"
#include "base/id.h"
#include "house/counters.h"
#include "jail/client/jaild.h"
#include "sandbox/profile.h"
#include "turns/runs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The open sessions of all tenants: which jaild session stands behind a tenant's key, how long it
 * stays, who waits for a place. State `fresh`. Nothing of a session's content is held here, not
 * even file names, but for active sessions of the policy `kept`, whose names go with their files.
 *
 * A session of the policy `kept` is active, with a home, or stopped, in the store alone; its next
 * call makes it active again.
 *
 * Every function may be called from any thread. A thread in the house closes what is idle or old by
 * the monotonic clock.
 */

struct house;
struct pool;
struct store;

#define HOUSE_TENANT_MAX 64 /* bytes of a tenant's name */
#define HOUSE_RUN_ID_MAX RUNS_ID_MAX
/* The tenant of sessions that are our own: no token can have this name, and no list shows it. */
#define HOUSE_TENANT_OURS "(ours)"
#define HOUSE_EPHEMERAL	  "ephemeral" /* policies */
#define HOUSE_KEPT	  "kept"
#define HOUSE_STATE	  "fresh"
#define HOUSE_LIVE	  "live"

/* A time of 0 is at once. */
struct house_config {
	unsigned max_sessions;	  /* at most open at once, of all tenants */
	uint64_t session_idle_ms; /* closes so long after its last call */
	uint64_t session_max_ms;  /* and so long after it opened, once no run is under way */
	uint64_t queue_wait_ms;	  /* a call waits so long for a place */
	unsigned queue_max;	  /* so many wait at most */
	const char *profile;	  /* of a session whose opener names none */
	uint64_t kept_idle_ms;	  /* a kept one stops so long after its last call */
	uint64_t kept_unused_ms;  /* and is removed when no call came for so long */
	unsigned kept_max;	  /* at most so many are kept */
};

#define HOUSE_CONFIG_DEFAULT                                                                       \
	{                                                                                          \
		.max_sessions = 4, .session_idle_ms = 60000, .session_max_ms = 300000,             \
		.queue_wait_ms = 5000, .queue_max = 32, .profile = PROFILE_DEFAULT,                \
		.kept_idle_ms = 1800000, .kept_unused_ms = 2592000000, .kept_max = 10000           \
	}

/* An empty house without a jaild, and its thread. The caller frees it after house_drain, when no
 * call is under way any more: house_free waits for none. The config may go; its
 * profile is a literal. */
struct house *house_new(const struct house_config *config);
void house_free(struct house *house);

/* Takes over what an earlier process knew of open sessions, from memory that is made as in
 * turns/known.h; before any call. fd is closed. Their next calls are told "restart". Returns 0 or
 * -errno: then nothing is known. */
int house_inherit(struct house *house, int fd);

/* Keeps sessions in a store from now on (taken over): before the first call. NULL with a sentence
 * (a literal) why there is none: then nothing is kept. Returns 0, or -errno when the store cannot
 * be read. */
int house_keep(struct house *house, struct store *store, const char *trouble);

/* pool_attach for the house's pool. Sessions of the jaild there was are lost; the next call of each
 * is told so. Returns 0, or -errno with *ret_fault. */
int house_attach(struct house *house, int fd, struct fault *ret_fault);

/* The pool, borrowed: for canary_new and for pool_status. */
struct pool *house_pool_get(struct house *house);

/* Refuses new calls from now on (SANDBOX_UNAVAILABLE), lets runs go on for grace_ms, cancels the
 * rest, and waits until no call is under way, but for at most wait_ms more. Returns the number of
 * calls still under way then: 0 is clean. */
size_t house_drain(struct house *house, uint64_t grace_ms, uint64_t wait_ms);

/* Ends a run of the tenant (NULL: of any); its answer says `cancelled`. One that waits for a place
 * never starts: call_run tells RUN_FINISHED. Returns 0 (202); -ENOENT with NOT_FOUND, also for
 * another tenant's; -EALREADY with RUN_FINISHED for one of its last RUNS_REMEMBERED that ended. */
int house_cancel(
	struct house *house, const char *tenant, const char *run_id, struct fault *ret_fault);

/* Closes a session; a run in it is ended. Returns 0 once nothing of it is left (204), -ENOENT with
 * NOT_FOUND, or -errno with SANDBOX_UNAVAILABLE. */
int house_close(struct house *house, const char *tenant, const char *key, struct fault *ret_fault);

/* Stops a kept session: its home is dropped, the store has it. Returns 0, also for one that is
 * stopped; -ENOENT with NOT_FOUND, -EBUSY with SESSION_BUSY while a run or another call is under
 * way, -EINVAL with INVALID_FIELD for one that is not kept, or -errno when its files cannot be
 * stored: then it goes on. */
int house_stop(struct house *house, const char *tenant, const char *key, struct fault *ret_fault);

/* What is told of a session. */
struct house_session_info {
	char tenant[HOUSE_TENANT_MAX + 1];
	char key[ID_KEY_MAX + 1];
	char profile[32];
	bool is_live;
	char run_id[HOUSE_RUN_ID_MAX + 1]; /* of the run under way or queued in it, "" for none */
	uint64_t opened_ms_ago;
	uint64_t idle_ms;      /* since its last call; 0 while one is under way */
	uint64_t closes_in_ms; /* or stops: by idleness or age, as things stand; 0 when it is due */
	bool is_kept;
	bool is_stopped;
	uint64_t expires_in_ms; /* it is gone for good then, as things stand */
	/* Of a kept one, as it was stored last: */
	int64_t created_ns; /* of the real clock */
	uint64_t files, files_bytes, stored_bytes;
	uint64_t runs; /* that ended in it */
};

/* Looks; is not a call of the session, so it lives no longer for it. Returns 0, or -ENOENT with
 * NOT_FOUND. */
int house_look(struct house *house, const char *tenant, const char *key,
	struct house_session_info *ret_info, struct fault *ret_fault);

/* All open sessions of a tenant (NULL: of all), sorted by tenant and key. The caller frees
 * *ret_list; returns their number. */
size_t house_list(struct house *house, const char *tenant, struct house_session_info **ret_list);

/* How many seconds a client that found no place should wait: until the next idle session may close,
 * 1 to 60. For Retry-After. */
unsigned house_retry_after_s(struct house *house);

/* What is so now, for metrics. */
struct house_gauges {
	unsigned sessions;
	unsigned kept; /* active or stopped */
	uint64_t store_bytes, store_syncs;
	unsigned max_sessions;
	unsigned runs;	    /* calls with a run, queued ones not counted */
	unsigned waiting;   /* in the queue */
	unsigned calls;	    /* of any kind, under way in sessions */
	size_t connections; /* to jaild, in use */
};

void house_gauges(struct house *house, struct house_gauges *ret_gauges);

/* The counters, borrowed: read them with counters_get. */
struct counters *house_counters_get(struct house *house);
