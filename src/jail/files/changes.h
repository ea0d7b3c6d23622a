#pragma once

#include "jail/files/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a run did to the regular files of its home: the difference of two snapshots (decision 19).
 */

/* Most that are told; more is a script gone wild, and no reader wants the list (decision 18). */
#define CHANGES_MAX 1000
/* And bytes of their paths: as many as there may be could have 4 MiB. */
#define CHANGES_PATH_BYTES_MAX ((size_t)256 * 1024)

enum change_kind {
	CHANGE_CREATED,
	CHANGE_MODIFIED,
	CHANGE_DELETED,
	CHANGE_KIND_MAX
};

struct change {
	enum change_kind kind;
	struct str path;     /* points into the snapshot that has it */
	uint64_t size_bytes; /* now; 0 for a deleted one */
	uint32_t mode;	     /* permission bits now */
};

struct changes {
	struct change *list; /* sorted by path bytes; owned */
	size_t n;
	size_t path_bytes; /* of all of them */
	bool is_truncated;
};

/* True for a path below .cache or .config/matplotlib: made by libraries, told to nobody. */
bool changes_is_hidden(struct str path);

/* Compares; before may be NULL for a home that was empty. Files below .cache and .config/matplotlib
 * are not told. A file that became a link, folder or other is deleted. The snapshots must outlive
 * *ret_changes, which changes_fini ends. */
void changes_find(
	const struct snapshot *before, const struct snapshot *after, struct changes *ret_changes);
void changes_fini(struct changes *changes);

/* "created", "modified" or "deleted". */
const char *change_name(enum change_kind kind);
