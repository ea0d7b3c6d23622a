#pragma once

#include "jail/plan/plan.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * The script's process: started by init in a finished cell, it gives everything away and executes
 * the interpreter.
 */

struct script {
	const struct jail_plan *plan;
	const struct sock_filter *filter; /* what its process does not have from the maker */
	uint32_t filter_count;
	const void *package; /* mapped, sealed; wire/package.h */
	size_t package_size;
	const int *fds;	 /* enum wire_run_fd */
	int landlock_fd; /* its rules */
};

/* Reads the package and writes the code into the cell, then makes it read-only. A failure ends
 * init through wall(). Allocates nothing: argv and envp lie in static memory. */
void script_prepare(const struct script *script);

/* The same for a live interpreter, whose code comes later (jail/plan/live.h); fds name its socket
 * in the place of the report. */
void script_prepare_live(const struct script *script);

/* True if the prepared script may run in an interpreter that was started without knowing of it:
 * Python, with no variables of its own. */
bool script_fits_waiting(void);

/* Starts the prepared script. Returns its pid once the interpreter has been executed; a failure
 * before that ends init through wall(). */
pid_t script_start(const struct script *script);
