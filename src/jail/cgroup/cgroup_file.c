#include "jail/cgroup/cgroup_file.h"

#include "base/fd.h"
#include "base/str.h"
#include "jail/cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

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

static int number_find(const char *text, const char *key, uint64_t *ret_number)
{
	struct str value = { .p = text, .n = strcspn(text, "\n") };

	if (key && line_find(text, key, &value) < 0)
		return -ENOENT;
	if (str_eq(value, STR("max"))) {
		*ret_number = UINT64_MAX;
		return 0;
	}
	return str_to_u64(value, UINT64_MAX, ret_number);
}

int cgroup_file_number(int dirfd, const char *path, const char *key, uint64_t *ret_number)
{
	char text[CGROUP_FILE_MAX];
	ssize_t n = fd_read_file(dirfd, path, text, sizeof(text));

	return n < 0 ? (int)n : number_find(text, key, ret_number);
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

static int held_open(int *fd, const struct cgroup_path *from, int mode)
{
	char path[2 * CGROUP_NAME_MAX];
	int r;

	if (*fd >= 0)
		return 0;
	r = path_format(path, from->group, from->file);
	if (r < 0)
		return r;
	*fd = openat(from->dirfd, path, mode | O_CLOEXEC | O_NOCTTY);
	return *fd < 0 ? -errno : 0;
}

static int held_read(int *fd, const struct cgroup_path *path, char text[CGROUP_FILE_MAX])
{
	int r = held_open(fd, path, O_RDONLY);
	ssize_t n;

	if (r < 0)
		return r;
	/* the kernel gives all that there is at once */
	n = pread(*fd, text, CGROUP_FILE_MAX - 1, 0);
	if (n < 0)
		return -errno;
	if (n == CGROUP_FILE_MAX - 1)
		return -EFBIG;
	text[n] = '\0';
	return 0;
}

int cgroup_held_number(
	int *fd, const struct cgroup_path *path, const char *key, uint64_t *ret_number)
{
	char text[CGROUP_FILE_MAX];
	int r = held_read(fd, path, text);

	return r < 0 ? r : number_find(text, key, ret_number);
}

int cgroup_held_numbers(
	int *fd, const struct cgroup_path *path, const char *const keys[2], uint64_t ret_numbers[2])
{
	char text[CGROUP_FILE_MAX];
	int r = held_read(fd, path, text);

	for (int i = 0; i < 2 && r == 0; i++)
		r = number_find(text, keys[i], &ret_numbers[i]);
	return r;
}

int cgroup_held_shmem(const struct cgroup_held *held, uint64_t home_bytes, uint64_t *ret_bytes)
{
	uint64_t used = UINT64_MAX;

	if (home_bytes == 0) {
		int r = cgroup_held_number(held->used_fd, &held->used, NULL, &used);

		if (r < 0)
			return r;
	}
	if (used < CGROUP_LITTLE_BYTES) {
		*ret_bytes = 0;
		return 0;
	}
	return cgroup_held_number(held->stat_fd, &held->stat, "shmem", ret_bytes);
}

int cgroup_held_write(int *fd, const struct cgroup_path *path, const char *text)
{
	size_t size = strlen(text);
	int r = held_open(fd, path, O_RDWR);
	ssize_t n;

	if (r < 0)
		return r;
	n = pwrite(*fd, text, size, 0);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EIO;
}

bool cgroup_shmem_known(struct cgroup_session *session, uint64_t home_bytes)
{
	uint64_t known_bytes = session->shmem_known_bytes;

	session->shmem_known_bytes = CGROUP_UNKNOWN;
	if (known_bytes == CGROUP_UNKNOWN || home_bytes > 0)
		return false;
	session->shmem_at_start_bytes = known_bytes;
	return true;
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
	AUTO_CLOSE int fd = -1;

	return cgroup_held_is_empty(&fd, unified_fd, leaf);
}

int cgroup_held_is_empty(int *fd, int unified_fd, const char *leaf)
{
	uint64_t populated = 1;
	int r = cgroup_held_number(fd, &(struct cgroup_path){ unified_fd, leaf, "cgroup.events" },
		"populated", &populated);

	return r < 0 ? r : populated == 0;
}
