#pragma once

#include "jail/cgroup/cgroup.h"
#include "jail/outside/home.h"
#include "jail/outside/idmap.h"
#include "jail/outside/network.h"
#include "jaild/cell/turn.h"
#include "jaild/jaild.h"
#include "jaild/live/live.h"
#include "wire/descriptors.h"
#include "wire/message.h"

struct cell;
struct walk;

/* Sessions that one jaild holds at most: more than the supervisor ever asks for. The limit of open
 * descriptors may allow less (wire/descriptors.h). */
#define SESSIONS_MAX 1024
_Static_assert(WIRE_SESSION_DESCRIPTORS == 10 + CGROUP_SESSION_FILES +
						   2 * (CGROUP_CELL_FILES + CGROUP_TASKS_MAX + 1) +
						   LIVE_DESCRIPTORS,
	"what a session holds");

/* A session: what its cells have in common. Owned by the jaild's list. */
struct session {
	struct jaild *jaild;
	struct session *next;
	uint64_t id;
	uint32_t number;
	char key[WIRE_KEY_SIZE];
	struct wire_limits limits;
	struct id_pair ids;
	struct cgroup_session cgroup;
	struct cgroup_cell leaf; /* left by its last cell for the next one */
	bool has_leaf;
	struct home home;
	uint64_t home_at_start_bytes; /* of its last run */
	struct network network;	      /* of its cells, one after the other; none after a rest */
	struct cell *cell;	      /* the run under way, NULL */
	struct cell *fading;	  /* the one before: answered, while the kernel frees it; NULL */
	struct turn turn;	  /* a request that waits for that, or for an interpreter's end */
	struct cell *spare;	  /* built ahead for the next run, NULL */
	struct timer spare_timer; /* makes it, and drops it again */
	struct live live;	  /* its live interpreter, if it has one */
	enum wire_warm warm;	  /* what its last run could start from: the next is likely to */
	struct walk *walk;	  /* the listing under way, NULL */
	struct reply close_reply; /* to the request that waits for the end */
	bool is_closing;
	bool is_spare; /* nobody's yet: without key and id (spares.h) */
	bool has_cgroup;
};

/* Makes a spare session without a cell (spares.h). Returns it, or NULL with *ret_failure. */
struct session *session_make(
	struct jaild *jaild, const struct wire_limits *limits, struct failure *ret_failure);

/* Frees one without a cell and a listing. */
void session_free(struct session *session);

/* The session with this id that is not being closed, or NULL. */
struct session *session_find(const struct jaild *jaild, uint64_t id);

/* Makes a session, or takes a spare one. Returns it, or NULL with *ret_failure: -EEXIST for a key
 * in use, -ENFILE when the limit of descriptors allows no more, -EAGAIN when our own does not. */
struct session *session_open(
	struct jaild *jaild, const struct wire_session_open *request, struct failure *ret_failure);

/* Ends what runs in it and, when nothing is left, frees it and answers. */
void session_close(struct session *session, const struct reply *reply);

/* To be called when a run or a listing of the session has ended: goes on with a close. */
void session_settle(struct session *session);

/* Cancels the runs and stops the listings that a client has under way; it is gone. */
void sessions_forget(struct jaild *jaild, uint64_t client);

/* At the end of jaild: kills every cell and removes all groups. Blocks for a moment. */
void sessions_end(struct jaild *jaild);
