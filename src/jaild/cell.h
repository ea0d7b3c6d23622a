#pragma once

#include "jail/outside/cgroup.h"
#include "jail/plan/plan.h"
#include "jaild/session.h"

/*
 * A cell from its birth to its end: building it, one run in it, and its death, after which nothing
 * of it is left and the client gets the answer.
 */

enum cell_state {
	CELL_BORN,
	CELL_STARTING,
	CELL_RUNNING,
	CELL_ENDING
};

struct cell {
	struct session *session; /* borrowed; outlives the cell */
	struct cgroup_cell cgroup;
	enum cell_state state;
	pid_t pid; /* of init, in jaild's pid namespace */
	int pidfd;
	int control_fd;
	int home_fd; /* until it has been handed to init, like the run's own */
	int run_fds[WIRE_RUN_FDS];
	struct watch control;
	struct watch death;
	struct watch oom;
	struct timer timer; /* start and wall limits, then retries while it ends */
	bool is_dead;	    /* init has been waited for */

	struct reply reply; /* to the RUN request */
	uint64_t run;	    /* its id */
	uint64_t wall_ms;
	usec_t accepted_us;
	usec_t started_us;
	usec_t ended_us;
	struct failure failure; /* set-up that failed */
	bool has_end;		/* the reason below is known */
	enum wire_end end;
	bool has_exit;
	struct init_event exit;
};

/* Runs a client's request in a new cell of the session; fds are those of enum wire_run_fd, taken
 * over (set to -1) when it returns true. Returns false with *ret_failure when the cell could not
 * even be begun; nothing is left then. */
bool cell_run(struct session *session, const struct wire_run *request, uint64_t client, int *fds,
	struct failure *ret_failure);

/* Ends the run as cancelled. */
void cell_cancel(struct cell *cell);
