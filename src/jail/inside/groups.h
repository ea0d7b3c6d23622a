#pragma once

#include <stdint.h>

/* Enters control groups (cgroup v1) by their files "tasks", n of them, open for writing: by the
 * process itself, as it then waits for no grace period of the kernel's. Returns 0 or -errno. */
int groups_enter(const int *tasks, uint32_t n);
