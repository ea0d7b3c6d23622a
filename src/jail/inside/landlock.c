#include "jail/inside/landlock.h"

#include "base/fd.h"
#include "base/macro.h"
#include "jail/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Constants of our own: Debian 12's headers know ABI 2, kernels here know 7 and more (decision 15).
 * Rights that the running kernel does not know are left out by its ABI number; TCP is left to the
 * network namespace (decision 7).
 */

#define FS_EXECUTE		   (1ULL << 0)
#define FS_WRITE_FILE		   (1ULL << 1)
#define FS_READ_FILE		   (1ULL << 2)
#define FS_READ_DIR		   (1ULL << 3)
#define FS_MAKE_SOCK		   (1ULL << 9)
#define FS_ABI_1		   ((1ULL << 13) - 1)
#define FS_REFER		   (1ULL << 13) /* ABI 2 */
#define FS_TRUNCATE		   (1ULL << 14) /* ABI 3 */
#define FS_IOCTL_DEV		   (1ULL << 15) /* ABI 5 */
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)	/* ABI 6 */
#define SCOPE_SIGNAL		   (1ULL << 1)	/* ABI 6 */

#define RULE_PATH_BENEATH 1

struct ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

struct path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

static uint64_t rights_known(unsigned abi)
{
	uint64_t rights = FS_ABI_1;

	if (abi >= 2)
		rights |= FS_REFER;
	if (abi >= 3)
		rights |= FS_TRUNCATE;
	if (abi >= 5)
		rights |= FS_IOCTL_DEV;
	return rights;
}

static int ruleset_create(unsigned abi, uint64_t rights)
{
	struct ruleset_attr attr = { .handled_access_fs = rights };
	size_t size = sizeof(attr.handled_access_fs);
	long fd;

	if (abi >= 6) {
		attr.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
		size = sizeof(attr);
	}
	fd = syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	return fd < 0 ? -errno : (int)fd;
}

static int rule_add(int ruleset_fd, int fd, uint64_t rights)
{
	struct path_beneath_attr attr = { .allowed_access = rights, .parent_fd = fd };

	if (syscall(SYS_landlock_add_rule, ruleset_fd, RULE_PATH_BENEATH, &attr, 0) < 0)
		return -errno;
	return 0;
}

static int path_open(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The root, and behind it the devices. */
static const char *const held[LANDLOCK_HELD] = { "/", "/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom" };

int landlock_hold(void)
{
	for (int i = 0; i < LANDLOCK_HELD; i++) {
		AUTO_CLOSE int fd = path_open(held[i]);

		if (fd < 0)
			return fd;
		if (dup2(fd, LANDLOCK_HELD_FD + i) < 0)
			return -errno;
	}
	return 0;
}

/* The home is the session's: through a socket with a name in it, a run could hand descriptors to
 * the live interpreter beside it, and so keep what is to end with the run (its network). The other
 * two are the cell's own. */
static int rules_add(int ruleset_fd, int home_fd, uint64_t rights)
{
	static const char *const own[] = { CELL_TMP, CELL_SHM };
	int r = rule_add(ruleset_fd, LANDLOCK_HELD_FD, FS_EXECUTE | FS_READ_FILE | FS_READ_DIR);

	for (int i = 1; i < LANDLOCK_HELD && r == 0; i++)
		r = rule_add(ruleset_fd, LANDLOCK_HELD_FD + i,
			(FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE) & rights);
	if (r == 0)
		r = rule_add(ruleset_fd, home_fd, rights & ~(FS_IOCTL_DEV | FS_MAKE_SOCK));
	for (size_t i = 0; i < ARRAY_SIZE(own) && r == 0; i++) {
		AUTO_CLOSE int fd = path_open(own[i]);

		r = fd < 0 ? fd : rule_add(ruleset_fd, fd, rights & ~FS_IOCTL_DEV);
	}
	return r;
}

int landlock_prepare(unsigned abi, int home_fd, int *ret_fd)
{
	uint64_t rights = rights_known(abi);
	AUTO_CLOSE int ruleset_fd = ruleset_create(abi, rights);
	int r;

	if (ruleset_fd < 0)
		return ruleset_fd;
	r = rules_add(ruleset_fd, home_fd, rights);
	if (r < 0)
		return r;
	*ret_fd = TAKE_FD(ruleset_fd);
	return 0;
}

int landlock_restrict(int ruleset_fd)
{
	return syscall(SYS_landlock_restrict_self, ruleset_fd, 0) < 0 ? -errno : 0;
}
