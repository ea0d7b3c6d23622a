#pragma once

#include "wire/stage.h"

/*
 * How the inside of a cell fails: at a named stage, at once, for good. A step is one line,
 *     wall(STAGE_INIT_HOME, mounts_attach_home(fd));
 * and whatever does not return 0 or more ends the process after telling jaild why.
 */

/* Goes on if result >= 0; else tells the stage and -result over the control socket and exits. */
void wall_check(enum stage stage, long result);

/* Makes stage fail in tests (see stage.h); else evaluates the expression and checks it. */
#define wall(stage, expression) wall_check(stage, STAGE_TRY(stage, (long)(expression)))

/* In the script's process, which shares init's memory until it executes: a failure is left here
 * for init to report, since only init may use the control socket. */
struct wall_failure {
	int stage;
	int error;
};

/* Sets the place for failures of the process from now on; NULL: the control socket. */
void wall_failure_set(struct wall_failure *failure);
