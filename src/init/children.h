#pragma once

#include "jail/plan/plan.h"

#include <stdbool.h>
#include <sys/types.h>

/* Process 1 and the processes that die below it. */

/* A descriptor that becomes readable when a child has died. Returns it or -errno. */
int children_open(void);

/* Reads what lies on it. */
void children_heard(int signal_fd);

/* Reaps every dead child and adds up in *event what they used. True once the script itself was
 * among them; then *event tells its end. */
bool children_reap(pid_t script, struct init_event *event);
