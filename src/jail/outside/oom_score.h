#pragma once

#include <sys/types.h>

/* What goes first when the host is out of memory (proc_pid_oom_score_adj(5), up to 1000): an
 * interpreter that waits between its calls, since it can be made again; then whatever runs a
 * script, or waits to; jaild after these. */
#define OOM_SCORE_CELL 500
#define OOM_SCORE_LIVE 800

/* Sets it for a process. proc_fd is jaild's own /proc. Returns 0 or -errno. */
int oom_score_set(int proc_fd, pid_t pid, int score);
