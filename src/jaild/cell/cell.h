#pragma once

#include "jail/cgroup/cgroup.h"
#include "jail/plan/plan.h"
#include "jaild/session.h"

/*
 * A cell from its birth to its end: building it, one run in it, and its death, after which nothing
 * of it is left and the client gets the answer.
 */

enum cell_state {
	CELL_BORN,    /* cloned; init has not said so yet */
	CELL_WAITING, /* init builds, or has built, the cell and waits for a run */
	CELL_STARTING,
	CELL_RUNNING,
	CELL_FREEZING, /* a live interpreter after its call, and */
	CELL_FROZEN,   /* until the next */
	CELL_ENDING
};

struct cell {
	struct session *session; /* borrowed; outlives the cell */
	struct cgroup_cell cgroup;
	enum cell_state state;
	enum wire_warm warm; /* the interpreter that waits in it, or is on its way */
	pid_t pid;	     /* of init, in jaild's pid namespace */
	int pidfd;
	int control_fd;
	int home_fd; /* until it has been handed to init, like the run's own */
	int run_fds[WIRE_RUN_FDS];
	struct watch control;
	struct watch death;
	struct watch oom;
	struct timer timer; /* start and wall limits, then retries while it ends */
	bool is_dead;	    /* init has been waited for */
	usec_t dead_us;	    /* since when */
	usec_t retry_us;    /* until the group is looked at again */
	bool is_ready;	    /* init has built it */
	bool is_empty;	    /* and nothing is left in its group */

	bool is_quiet; /* the run, an executed one, is right behind the plan */
	bool is_live;  /* it holds the session's live interpreter (jaild/live/live.h) */

	struct reply reply; /* to the RUN request */
	uint64_t run;	    /* its id */
	uint64_t wall_ms;
	usec_t accepted_us;
	usec_t started_us;
	usec_t ended_us;
	pid_t script_within;	/* its process, a copy, in the cell's pid namespace; else 0 */
	pid_t script;		/* and in jaild's; 0: not known */
	bool has_looked;	/* whether it is over (cell_look) */
	struct failure failure; /* set-up that failed */
	bool has_end;		/* the reason below is known */
	enum wire_end end;
	bool has_exit;
	struct init_event exit;
};

/* Runs a client's request, whose turn it is (turn.h), in the session's spare cell, or in a new one;
 * its descriptors are taken over when it returns true. Returns false with *ret_failure when the
 * cell could not even be begun; nothing is left then. */
bool cell_run(struct session *session, struct run_request *request, struct failure *ret_failure);

/* Both streams of the run are at their end: answers now if nothing of it can run any more, else
 * does nothing. */
void cell_look(struct cell *cell);

/* Ends the run as cancelled; a live interpreter has a moment to survive that. */
void cell_cancel(struct cell *cell);

/* Makes a spare cell for the session's next run in a moment, off the way of the answer, and drops
 * it again when no run comes. */
void cell_spare_schedule(struct session *session);

/* Makes one now. Returns false with *ret_failure. */
bool cell_spare_make(struct session *session, struct failure *ret_failure);

/* Drops the spare cell when no run comes for a while. */
void cell_spare_expire(struct session *session);

/* False once init has died, also when nobody has heard of it yet, or a step has failed. */
bool cell_is_alive(const struct cell *cell);

/* No spare any more; it may take a moment (session_settle is called then). */
void cell_spare_drop(struct session *session);

/* Between cell.c (a cell's events and end), cell_run.c (its beginning) and live.c. */

/* Listens to init and waits for its death; to the out-of-memory killer. Return 0 or -errno. */
int cell_watch(struct cell *cell);
/* The kernel has killed for memory, and it was the cell's. */
void cell_out_of_memory(struct cell *cell);

int cell_watch_oom(struct cell *cell);
/* Hands the run to a waiting init; a failure is left in the cell. */
void cell_start(struct cell *cell);
/* The session's spare, or a cell that begins to be built, for the run that follows at once, with
 * the session's memory limit for that. NULL with *ret_failure. */
struct cell *cell_take(
	struct session *session, const struct run_request *request, struct failure *ret_failure);
/* Forgets one in which no script has been started. */
void cell_discard(struct cell *cell);
/* Makes it the session's run: it takes over the request's descriptors. */
void cell_accept(struct cell *cell, struct run_request *request);
/* Notes why the run is over, if that is not known yet. */
void cell_set_end(struct cell *cell, enum wire_end end);
/* What the run ended by, once its counters are there. */
enum wire_end cell_end_decide(const struct cell *cell, const struct cgroup_usage *usage);
/* The script's exit happened when the event says so: after it had started, and not later than now.
 */
void cell_exited(struct cell *cell, const struct init_event *event);
/* For an end that comes from outside: a script that has exited before it has exited. */
void cell_heed(struct cell *cell);
/* Finds out which process the script is (cell_over.c). */
void cell_know_script(struct cell *cell);
/* One that was answered ahead of its death is dead (cell_over.c). */
void cell_faded(struct cell *cell);
/* Tells the client. */
void cell_answer_ended(struct cell *cell, const struct cgroup_usage *usage);
/* Kills what is left and finishes once it is gone. */
void cell_end(struct cell *cell);
/* For the timer: the cell was not ready in time. */
void cell_on_start_limit(struct timer *timer);
