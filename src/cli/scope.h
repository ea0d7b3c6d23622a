#pragma once

#include <stdbool.h>

/*
 * Decision 14: limits need a cgroup that is ours to divide. From a shell under systemd there is
 * none; systemd-run makes one, so cloche executes itself once more below it.
 */

/* True if argv[1] is the mark of a second life: then nothing is tried again. */
bool scope_is_marked(int argc, char **argv);

/* Executes this program again under systemd-run with these arguments, when systemd is there,
 * answers, and our cgroup is not delegated. Returns when that is not so, or did not work. */
void scope_enter(int argc, char **argv);
