#include "launch/outer.h"

#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Root needs no helper program: CAP_SETUID and CAP_SETGID write any map. A user's own id becomes
 * id 0 of his map, and his subordinate ids follow; the set-user-id helpers of package uidmap check
 * that they are his.
 */

static int map_write(pid_t pid, const char *file, uint32_t first, uint32_t count)
{
	char path[64], map[64];

	(void)str_format(path, sizeof(path), "/proc/%d/%s", pid, file);
	(void)str_format(map, sizeof(map), "0 %" PRIu32 " %" PRIu32, first, count);
	return fd_write_file(AT_FDCWD, path, map);
}

/* Runs "helper pid 0 own 1 1 first count". */
static int map_by_helper(
	const char *helper, pid_t pid, uint32_t own, uint32_t first, uint32_t count)
{
	char words[4][16];
	int status;
	pid_t child;

	(void)str_format(words[0], sizeof(words[0]), "%d", pid);
	(void)str_format(words[1], sizeof(words[1]), "%" PRIu32, own);
	(void)str_format(words[2], sizeof(words[2]), "%" PRIu32, first);
	(void)str_format(words[3], sizeof(words[3]), "%" PRIu32, count);
	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0) {
		execl(helper, helper, words[0], "0", words[1], "1", "1", words[2], words[3],
			(char *)NULL);
		_exit(errno == ENOENT ? 127 : 126);
	}
	if (waitpid(child, &status, 0) < 0)
		return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -ENOENT : -EPERM;
}

static void helper_explain(int r, const char *helper, char *text, size_t size)
{
	if (r == -ENOENT)
		(void)str_format(text, size, "%s is missing: apt-get install uidmap", helper);
	else if (r < 0)
		(void)str_format(text, size,
			"%s refused: is it set-user-id root, and is the range in /etc/subuid and "
			"/etc/subgid yours?",
			helper);
}

int outer_map(pid_t pid, const struct id_range *range, uint32_t *ret_count, char *text, size_t size)
{
	int r;

	if (geteuid() == 0) {
		r = map_write(pid, "uid_map", range->first_uid, range->count);
		if (r == 0)
			r = map_write(pid, "gid_map", range->first_gid, range->count);
		if (r < 0)
			(void)str_copy(
				text, size, "writing the id maps needs CAP_SETUID and CAP_SETGID");
		*ret_count = range->count;
		return r;
	}
	*ret_count = range->count + 1;
	r = map_by_helper("/usr/bin/newuidmap", pid, getuid(), range->first_uid, range->count);
	helper_explain(r, "/usr/bin/newuidmap", text, size);
	if (r < 0)
		return r;
	r = map_by_helper("/usr/bin/newgidmap", pid, getgid(), range->first_gid, range->count);
	helper_explain(r, "/usr/bin/newgidmap", text, size);
	return r;
}
