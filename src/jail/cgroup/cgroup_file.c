#include "jail/cgroup/cgroup_file.h"

#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/* memory.stat is the largest file read here, about 1.5 KiB on current kernels. */
#define CGROUP_FILE_MAX 8192

/* The slice behind "key " at the start of a line of text. */
static int line_find(const char *text, const char *key, struct str *ret_value)
{
	size_t n = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (strncmp(line, key, n) == 0 && line[n] == ' ') {
			const char *value = line + n + 1;

			*ret_value = (struct str){ .p = value, .n = strcspn(value, "\n") };
			return 0;
		}
	}
	return -ENOENT;
}

int cgroup_file_number(int dirfd, const char *path, const char *key, uint64_t *ret_number)
{
	char text[CGROUP_FILE_MAX];
	struct str value;
	ssize_t n;

	n = fd_read_file(dirfd, path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	value = (struct str){ .p = text, .n = strcspn(text, "\n") };
	if (key && line_find(text, key, &value) < 0)
		return -ENOENT;
	if (str_eq(value, STR("max"))) {
		*ret_number = UINT64_MAX;
		return 0;
	}
	return str_to_u64(value, UINT64_MAX, ret_number);
}

int cgroup_file_set(int dirfd, const char *path, uint64_t number)
{
	char text[24];

	(void)str_format(text, sizeof(text), "%" PRIu64, number);
	return fd_write_file(dirfd, path, text);
}

static int path_format(char *path, const char *group, const char *file)
{
	return str_format(path, 2 * CGROUP_NAME_MAX, "%s/%s", group, file);
}

int cgroup_file_number_in(
	int dirfd, const char *group, const char *file, const char *key, uint64_t *ret_number)
{
	char path[2 * CGROUP_NAME_MAX];
	int r = path_format(path, group, file);

	return r < 0 ? r : cgroup_file_number(dirfd, path, key, ret_number);
}

int cgroup_file_set_in(int dirfd, const char *group, const char *file, uint64_t number)
{
	char path[2 * CGROUP_NAME_MAX];
	int r = path_format(path, group, file);

	return r < 0 ? r : cgroup_file_set(dirfd, path, number);
}

int cgroup_file_write_in(int dirfd, const char *group, const char *file, const char *text)
{
	char path[2 * CGROUP_NAME_MAX];
	int r = path_format(path, group, file);

	return r < 0 ? r : fd_write_file(dirfd, path, text);
}

void cgroup_session_name(char name[CGROUP_NAME_MAX], uint32_t session)
{
	(void)str_format(name, CGROUP_NAME_MAX, "s%" PRIu32, session);
}

int cgroup_leaf_open(int unified_fd, const char *leaf, int *ret_fd)
{
	int fd = openat(unified_fd, leaf, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

int cgroup_leaf_kill(int unified_fd, const char *leaf)
{
	return cgroup_file_write_in(unified_fd, leaf, "cgroup.kill", "1");
}

int cgroup_leaf_is_empty(int unified_fd, const char *leaf)
{
	uint64_t populated = 1;
	int r = cgroup_file_number_in(unified_fd, leaf, "cgroup.events", "populated", &populated);

	return r < 0 ? r : populated == 0;
}
