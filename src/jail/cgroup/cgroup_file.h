#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cgroup_session;

/* Small reads and writes of cgroup files, shared by the back ends. */

#define CGROUP_NAME_MAX 64

/* Reads "path" below dirfd and returns the number behind `key` and one space at the start of a
 * line; with key NULL the file's own number ("max" is UINT64_MAX). 0, -ENOENT without that key, or
 * -errno. */
int cgroup_file_number(int dirfd, const char *path, const char *key, uint64_t *ret_number);

/* Writes the number in decimal. */
int cgroup_file_set(int dirfd, const char *path, uint64_t number);

/* Formats "group/file" and reads or writes it as above. */
int cgroup_file_number_in(
	int dirfd, const char *group, const char *file, const char *key, uint64_t *ret_number);
int cgroup_file_set_in(int dirfd, const char *group, const char *file, uint64_t number);
int cgroup_file_write_in(int dirfd, const char *group, const char *file, const char *text);

/* The same through a descriptor that is kept in *fd (-1: not opened yet), for what each run reads:
 * opening a file of a group costs three times what reading it does. The second one writes text, and
 * the file can be read through it too. */
struct cgroup_path {
	int dirfd;
	const char *group, *file;
};

int cgroup_held_number(
	int *fd, const struct cgroup_path *path, const char *key, uint64_t *ret_number);
/* Two numbers of one reading. */
int cgroup_held_numbers(int *fd, const struct cgroup_path *path, const char *const keys[2],
	uint64_t ret_numbers[2]);
int cgroup_held_write(int *fd, const struct cgroup_path *path, const char *text);

/* What a session's group holds of files in memory before a run, from its memory.stat. That file is
 * the dearest of all, so it is not read of a group that holds next to nothing as a whole (`used`)
 * and whose home is empty: then it is 0, which is wrong by less than CGROUP_LITTLE_BYTES. Returns 0
 * or -errno. */
#define CGROUP_LITTLE_BYTES (1024 * 1024)

struct cgroup_held {
	struct cgroup_path used, stat;
	int *used_fd, *stat_fd;
};

int cgroup_held_shmem(const struct cgroup_held *held, uint64_t home_bytes, uint64_t *ret_bytes);

/* Takes what is known of an empty home's session (cgroup.h) as shmem_at_start_bytes; false: it has
 * to be read. */
bool cgroup_shmem_known(struct cgroup_session *session, uint64_t home_bytes);

/* The name of a session's group, in either back end. */
void cgroup_session_name(char name[CGROUP_NAME_MAX], uint32_t session);

/* A cell's leaf in the v2 tree, which both back ends have: its folder (the caller closes), the end
 * of all its processes, and whether it holds none (1, else 0; also through a descriptor that is
 * kept). Return -errno on a failure. */
int cgroup_leaf_open(int unified_fd, const char *leaf, int *ret_fd);
int cgroup_leaf_kill(int unified_fd, const char *leaf);
int cgroup_leaf_is_empty(int unified_fd, const char *leaf);
int cgroup_held_is_empty(int *fd, int unified_fd, const char *leaf);
