#pragma once

#include "jail/cgroup/cgroup.h"
#include "jail/outside/maker.h"
#include "jaild/loop.h"
#include "jaild/spares/spares.h"
#include "jaild/spares/walkers.h"
#include "jaild/zygote/zygote.h"
#include "wire/stage.h"

#include <stdint.h>

struct client;
struct session;
struct upload;

/* The kernel finds a file of sys/user among those of the same name of all user namespaces that
 * have used the same procfs, dead ones for a while too: one after the other. So cells take turns
 * with several: LIMITS_FDS_PER_RUN for each run under way. One takes a third of a millisecond to
 * make, so jaild starts with those of one run. */
#define LIMITS_FDS	   32u
#define LIMITS_FDS_PER_RUN 4u

/*
 * The one object of the program: what jaild holds for its whole life. Everything else hangs off it
 * and is reached from a watch or a timer by container_of.
 */

struct jaild {
	struct loop loop;
	struct client *clients;
	unsigned n_clients;

	struct cgroup_root cgroups;
	uint32_t ids;	       /* of the outer namespace */
	uint32_t next_pair;    /* where the search for a free id pair goes on */
	uint32_t next_number;  /* of sessions and cells, for the names of their groups */
	uint64_t next_id;      /* of clients, sessions, runs and uploads */
	uint64_t cpus_allowed; /* as a mask; 0 where there are more than 64 */
	unsigned next_cpu;
	unsigned landlock_abi;

	int init_fd;		    /* sealed cloche-init */
	int proc_fd;		    /* our own /proc */
	int homes_fd;		    /* folder of all homes, in our own mount namespace */
	int own_ns_fd;		    /* that namespace */
	struct network own_network; /* an empty one */
	int template_ns_fd;
	int null_fd;
	int filter_fd; /* the script's filter as a whole, sealed */
	uint32_t filter_count;
	struct maker_filters filters; /* and in parts */

	int limits_fds[LIMITS_FDS]; /* sys/user of other ones, the first n_limits */
	unsigned n_limits;
	unsigned next_limits;

	struct maker maker;
	struct maker_base maker_base;
	struct nursery nursery;
	struct session *sessions;
	unsigned sessions_max;
	unsigned n_sessions; /* without spare ones */
	struct spares spares;
	struct walkers walkers;
	unsigned n_cells;
	struct upload *uploads;
	unsigned n_uploads;
};

/* Whom an answer goes to: kept by number, since the client may be gone by then. */
struct reply {
	uint64_t client;
	uint32_t seq;
};

/* Where a request failed on its way: kept until it can be told. */
struct failure {
	enum stage stage;
	int error; /* positive errno, 0: no failure */
};

/* Notes the first failure. True when result is one: `if (failed(&failure, STAGE_X, r)) return;` */
bool failed(struct failure *failure, enum stage stage, int result);

/* The same for the expression that is the stage, which a test can make fail (wire/stage.h). */
#define step_failed(failure, stage, expression) failed(failure, stage, STAGE_TRY(stage, expression))
