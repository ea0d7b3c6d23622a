#include "zygote/surroundings.h"

#include "base/fd.h"
#include "jail/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The interpreter, and the folders that it looks for modules in. */
#define NOTED_MAX 256
#define PATH_SIZE PATH_MAX

/* All zero but the path if there is none. */
struct noted {
	char path[PATH_SIZE];
	dev_t device;
	ino_t inode;
	struct timespec mtime;
};

static struct noted noted[NOTED_MAX];
static unsigned n_noted;

static void look(const char *path, struct noted *ret)
{
	struct stat status = { 0 };

	if (stat(path, &status) < 0)
		status = (struct stat){ 0 };
	ret->device = status.st_dev;
	ret->inode = status.st_ino;
	ret->mtime = status.st_mtim;
}

int surroundings_note(const char *path)
{
	struct noted *one = &noted[n_noted];
	size_t size = strlen(path) + 1;

	if (n_noted == NOTED_MAX || size > sizeof(one->path))
		return -E2BIG;
	memcpy(one->path, path, size);
	look(path, one);
	n_noted++;
	return 0;
}

static bool is_same(const struct noted *one)
{
	struct noted now;

	look(one->path, &now);
	return now.device == one->device && now.inode == one->inode &&
	       now.mtime.tv_sec == one->mtime.tv_sec && now.mtime.tv_nsec == one->mtime.tv_nsec;
}

bool surroundings_are_same(void)
{
	for (unsigned i = 0; i < n_noted; i++) {
		if (!is_same(&noted[i]))
			return false;
	}
	return true;
}

/* As the kernel gives them; opendir would allocate, and so write more pages. */
struct entry {
	uint64_t inode;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool surroundings_home_is_empty(void)
{
	char bytes[512] __attribute__((aligned(8)));
	int fd = open(CELL_HOME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_empty = fd >= 0;
	long n = 0;

	while (is_empty && (n = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0) {
		for (long at = 0; at < n;) {
			const struct entry *entry = (const void *)(bytes + at);

			is_empty = is_empty && is_dot(entry->name);
			at += entry->size;
		}
	}
	(void)fd_close(fd);
	return is_empty && n == 0;
}

static bool is_null(const struct stat *status)
{
	return S_ISCHR(status->st_mode) && status->st_rdev == makedev(1, 3);
}

unsigned surroundings_streams(void)
{
	unsigned usual = 0;
	struct stat status;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		bool is_usual = fstat(fd, &status) == 0 &&
				(fd == STDIN_FILENO ? is_null(&status) : S_ISFIFO(status.st_mode));

		usual |= (unsigned)is_usual << fd;
	}
	return usual;
}
