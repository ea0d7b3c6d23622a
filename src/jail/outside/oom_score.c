#include "jail/outside/oom_score.h"

#include "base/fd.h"
#include "base/str.h"

int oom_score_set(int proc_fd, pid_t pid, int score)
{
	char path[32], text[16];

	(void)str_format(path, sizeof(path), "%d/oom_score_adj", pid);
	(void)str_format(text, sizeof(text), "%d", score);
	return fd_write_file(proc_fd, path, text);
}
