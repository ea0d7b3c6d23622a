#pragma once

#include "base/clock.h"
#include "jail/client/jaild.h"
#include "wire/package.h"

/* Runs in cells, through a jaild that goes on living. */

/* Most cells at once. */
#define JAILED_WIDTH_MAX 16

struct jailed {
	struct jaild jaild;
	struct wire_limits limits;
	uint64_t sessions[JAILED_WIDTH_MAX]; /* open all the time */
};

/* What one run took. */
struct jailed_times {
	usec_t all_us;	 /* of the client's clock */
	usec_t start_us; /* of jaild's: from acceptance to the exec */
	usec_t wall_us;	 /* of jaild's: from there to the script's exit */
};

/* Starts the program as jaild. Returns 0, or -errno with jaild.fault. */
int jailed_start(struct jailed *jailed, const char *program);

/* Opens all sessions: before the first run, but an idle jaild has none. */
int jailed_open(struct jailed *jailed);
void jailed_stop(struct jailed *jailed);

/* One run in a session that is open: from before its package is made until its end is known and
 * both pipes are at their end. -ECANCELED when the script did not exit with 0. */
int jailed_run(
	struct jailed *jailed, const struct package *package, struct jailed_times *ret_times);

/* The same in a session of its own, which is opened before and closed behind it. */
int jailed_run_in_new_session(
	struct jailed *jailed, const struct package *package, struct jailed_times *ret_times);

/* The same when jaild keeps a spare session, which is ready before the clock starts. No further one
 * is built behind it. */
int jailed_run_in_spare_session(
	struct jailed *jailed, const struct package *package, struct jailed_times *ret_times);

/* count runs, width at a time, each place with a session of its own. */
int jailed_run_many(struct jailed *jailed, const struct package *package, unsigned width,
	unsigned count, usec_t *ret_us);
