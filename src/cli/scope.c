/*
 * Theory of operation: exec leaves no way back, so everything is looked at before: systemd is the
 * running init (sd_booted(3): /run/systemd/system), its manager for this user takes connections,
 * and our cgroup is not delegated already. The second life bears a mark as its first argument and
 * never comes here again; if the scope brought no delegation either, jaild names what is missing.
 *
 * For root every cgroup is writable, so what counts is systemd's own mark, the attribute
 * trusted.delegate; for others that the cgroup can be divided (systemd's CGROUP_DELEGATION
 * document).
 */
#include "cli/scope.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MARK	    "--in-systemd-scope"
#define SYSTEMD_RUN "/usr/bin/systemd-run"

bool scope_is_marked(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], MARK) == 0;
}

/* The folder in which the manager that systemd-run asks has its socket. */
static int runtime_folder(char *ret_path, size_t size)
{
	if (geteuid() == 0)
		return str_copy(ret_path, size, "/run");
	return str_format(ret_path, size, "/run/user/%u", geteuid());
}

/* True if that manager takes connections. */
static bool manager_answers(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char folder[64];

	if (fd < 0 || runtime_folder(folder, sizeof(folder)) < 0 ||
		str_format(address.sun_path, sizeof(address.sun_path), "%s/systemd/private",
			folder) < 0)
		return false;
	return connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
}

/* Our cgroup's folder in the unified tree. Returns 0 or -errno. */
static int cgroup_folder(char *ret_path, size_t size)
{
	char text[PATH_MAX];
	ssize_t n = fd_read_file(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text));
	struct str line, rest;

	if (n < 0)
		return (int)n;
	rest = (struct str){ .p = text, .n = (size_t)n };
	while (rest.n > 0) {
		(void)str_split_once(rest, '\n', &line, &rest);
		if (str_starts(line, STR("0::/")))
			return str_format(
				ret_path, size, "/sys/fs/cgroup%.*s", (int)line.n - 3, line.p + 3);
	}
	return -ENOENT;
}

static bool is_delegated(void)
{
	char folder[PATH_MAX], file[PATH_MAX + 32], value[8];

	/* Without a unified tree systemd could not help. */
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) < 0 ||
		cgroup_folder(folder, sizeof(folder)) < 0)
		return true;
	if (geteuid() == 0)
		return getxattr(folder, "trusted.delegate", value, sizeof(value)) == 1 &&
		       value[0] == '1';
	return str_format(file, sizeof(file), "%s/cgroup.subtree_control", folder) == 0 &&
	       access(file, W_OK) == 0 && access(folder, W_OK) == 0;
}

/* Executes systemd-run with our own path and arguments behind the mark; returns if that fails. */
static void scope_exec(int argc, char **argv)
{
	static const char *const before[] = { "systemd-run", "--scope", "--quiet", "--collect",
		"--property=Delegate=yes" };
	/* Behind `before`: --user, --, our path, the mark, and NULL. */
	AUTO_FREE const char **arguments =
		xcalloc(ARRAY_SIZE(before) + (size_t)argc + 5, sizeof(*arguments));
	char self[PATH_MAX], folder[64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t at = ARRAY_SIZE(before);

	if (n <= 0)
		return;
	self[n] = '\0';
	memcpy(arguments, before, sizeof(before));
	if (geteuid() != 0) {
		/* After `su` it is missing or another's; systemd-run would not find the manager. */
		if (runtime_folder(folder, sizeof(folder)) < 0 ||
			setenv("XDG_RUNTIME_DIR", folder, 1) < 0)
			return;
		arguments[at++] = "--user";
	}
	arguments[at++] = "--";
	arguments[at++] = self;
	arguments[at++] = MARK;
	for (int i = 1; i < argc; i++)
		arguments[at++] = argv[i];
	arguments[at] = NULL;
	(void)execv(SYSTEMD_RUN, (char **)(uintptr_t)arguments);
}

void scope_enter(int argc, char **argv)
{
	if (access("/run/systemd/system", F_OK) == 0 && access(SYSTEMD_RUN, X_OK) == 0 &&
		!is_delegated() && manager_answers())
		scope_exec(argc, argv);
}
