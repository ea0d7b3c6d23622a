#pragma once

#include "jail/inside/script.h"

/* Gives everything away that a script may not have: session, signals, working directory, limits,
 * privileges, ids, capabilities, descriptors from first_closed_fd on, system calls. The bounding
 * set must be empty already. The one way to become a script's process, whether it is executed or
 * was forked from a zygote. A failure ends the process through wall(). Needs of script: plan,
 * filter, landlock_fd. */
void script_drop(const struct script *script, unsigned first_closed_fd);
