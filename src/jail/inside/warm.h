#pragma once

#include "jail/plan/plan.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * A script's process that exists before the script does: forked from a zygote into the cell
 * (src/zygote), it gives everything away and waits, over a socket to init, for the run. The words
 * are those of jail/plan/plan.h: init sends the plan with the Landlock rules and the filter, the
 * process answers INIT_READY; init sends the run with its descriptors, the process answers
 * INIT_STARTED, closes the socket and goes on with the script. INIT_FAILED, or a hang-up before
 * INIT_STARTED, means that there is no such process: init then executes the script as ever.
 */

/* init's end */

/* Greets the process that is to come over socket. Returns 0 or -errno: then there will be none. */
int warm_offer(int socket, const struct jail_plan *plan, int landlock_fd, int filter_fd);

/* Hands the run to the process behind socket, once it is ready. Returns its pid when it goes on
 * with the script, 0 when there is no process, or -errno when it cannot be known whether it does:
 * then the cell must end. */
pid_t warm_start(int socket, const struct jail_run *run, const int *fds);

/* The process's end; its socket is INIT_CONTROL_FD. Failures end the process through wall(). */

/* Reads the plan and gives everything away (script_drop). Needs all capabilities of the cell's user
 * namespace; descriptors but 0 to 2 and the socket are closed. */
void warm_become(void);

/* Says that we are ready, and waits for the run; false if none will come. Then 0 to 3 are the run's
 * streams and report, the socket is closed, and *ret_package_fd is the caller's to close. */
bool warm_wait(int *ret_package_fd);
