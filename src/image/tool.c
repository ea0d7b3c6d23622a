/*
 * Theory of operation: posix_spawnp, stdin from /dev/null, default signals. The standard output is
 * read to its end before the process is waited for; stderr goes to a file, so nothing can block.
 */
#include "image/tool.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

/* A copy of our environment with a few names set; the caller frees the array, not the texts. */
static const char **environment_make(const char *tmp_dir, const char *variable)
{
	static const char *const ours[] = { "LC_ALL=", "LANGUAGE=", "DEBIAN_FRONTEND=",
		"PYTHONDONTWRITEBYTECODE=", "SOURCE_DATE_EPOCH=" };
	const char **made;
	size_t n = 0, count = 0;

	while (environ[count])
		count++;
	made = xcalloc(count + 8, sizeof(*made));
	for (size_t i = 0; i < count; i++) {
		bool is_ours = tmp_dir && str_starts(str_from(environ[i]), STR("TMPDIR="));

		for (size_t k = 0; k < sizeof(ours) / sizeof(ours[0]); k++)
			is_ours |= str_starts(str_from(environ[i]), str_from(ours[k]));
		if (!is_ours)
			made[n++] = environ[i];
	}
	made[n++] = "LC_ALL=C.UTF-8";
	made[n++] = "DEBIAN_FRONTEND=noninteractive";
	made[n++] = "PYTHONDONTWRITEBYTECODE=1";
	if (tmp_dir)
		made[n++] = tmp_dir;
	if (variable)
		made[n++] = variable;
	return made;
}

/* As posix_spawnp looks for it. */
bool tool_is_there(const char *name)
{
	struct str path = STR("/bin:/usr/bin"), folder;
	char file[PATH_MAX];

	for (size_t i = 0; environ[i]; i++)
		if (str_starts(str_from(environ[i]), STR("PATH=")))
			path = str_from(environ[i] + strlen("PATH="));
	while (path.n > 0) {
		(void)str_split_once(path, ':', &folder, &path);
		if (str_format(file, sizeof(file), "%.*s/%s", STR_ARG(folder), name) == 0 &&
			access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static int actions_fill(posix_spawn_file_actions_t *actions, const struct tool *tool, int out_fd)
{
	int r = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, out_fd, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, tool->log_fd, STDERR_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
	if (r == 0 && tool->dir)
		r = posix_spawn_file_actions_addchdir_np(actions, tool->dir);
	return r;
}

static int tool_start(const struct tool *tool, int out_fd, pid_t *ret_pid)
{
	AUTO_FREE char *tmp_dir = tool->tmp_dir ? xasprintf("TMPDIR=%s", tool->tmp_dir) : NULL;
	AUTO_FREE const char **environment = environment_make(tmp_dir, tool->variable);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t all;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0)
		return -r;
	r = actions_fill(&actions, tool, out_fd);
	if (r == 0)
		r = posix_spawnattr_init(&attributes);
	if (r == 0) {
		(void)sigfillset(&all);
		(void)posix_spawnattr_setsigdefault(&attributes, &all);
		(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
		r = posix_spawnp(ret_pid, tool->argv[0], &actions, &attributes,
			(char **)(uintptr_t)tool->argv, (char **)(uintptr_t)environment);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return -r;
}

static int tool_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Reads to the end, also what no longer fits: the program must not wait for us. */
static int output_read(int fd, struct buf *out)
{
	char piece[8192];
	int r = 0;
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && r == 0)
			r = buf_add(out, piece, (size_t)n);
	}
	return r;
}

int tool_run(const struct tool *tool, struct buf *ret_out)
{
	int out_fd = tool->out_fd >= 0 ? tool->out_fd : tool->log_fd, pair[2] = { -1, -1 };
	int r, status;
	pid_t pid = 0;

	if (ret_out && pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	r = tool_start(tool, ret_out ? pair[1] : out_fd, &pid);
	(void)fd_close(pair[1]);
	if (r == 0 && ret_out)
		r = output_read(pair[0], ret_out);
	status = pid > 0 ? tool_wait(pid) : 0;
	(void)fd_close(pair[0]);
	return r < 0 ? r : status;
}
