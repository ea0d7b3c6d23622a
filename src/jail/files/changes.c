/*
 * Theory of operation: both snapshots are sorted, so one walk over the two finds what is only in
 * the first, only in the second, or in both. In both counts as modified when inode, size or ctime
 * differ. A write through a shared mapping changes none of these on tmpfs, so when both are hashed
 * the contents decide too. The device is left out: it is a number of the kernel for a mount that a
 * kept session may get anew. Errors lean to "modified": a file told once too often is no harm.
 */
#include "jail/files/changes.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <stdlib.h>

/* Caches that the environment sends there (decision 10): made by libraries, not by the person. */
bool changes_is_hidden(struct str path)
{
	static const char *const folders[] = { ".cache/", ".config/matplotlib/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (str_starts(path, str_from(folders[i])))
			return true;
	return false;
}

static bool is_same(const struct listing_entry *a, const struct listing_entry *b)
{
	if (a->inode != b->inode || a->size_bytes != b->size_bytes || a->ctime_ns != b->ctime_ns)
		return false;
	if (a->is_hashed && b->is_hashed)
		return a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1];
	return true;
}

static void add(struct changes *changes, enum change_kind kind, const struct snapshot_entry *entry)
{
	if (changes_is_hidden(entry->path))
		return;
	if (changes->n == CHANGES_MAX ||
		entry->path.n > CHANGES_PATH_BYTES_MAX - changes->path_bytes) {
		/* A list that is cut has an end, not holes: shorter paths do not follow. */
		changes->path_bytes = CHANGES_PATH_BYTES_MAX;
		changes->is_truncated = true;
		return;
	}
	changes->path_bytes += entry->path.n;
	changes->list[changes->n++] = (struct change){ .kind = kind,
		.path = entry->path,
		.size_bytes = kind == CHANGE_DELETED ? 0 : entry->is->size_bytes,
		.mode = entry->is->mode };
}

/* One path: its entry before and after, NULL where it has none. */
static void compare(struct changes *changes, const struct snapshot_entry *before,
	const struct snapshot_entry *after)
{
	bool was_file = before && before->is->kind == LISTING_FILE;
	bool is_file = after && after->is->kind == LISTING_FILE;

	if (is_file && !was_file)
		add(changes, CHANGE_CREATED, after);
	else if (was_file && !is_file)
		add(changes, CHANGE_DELETED, before);
	else if (was_file && is_file && !is_same(before->is, after->is))
		add(changes, CHANGE_MODIFIED, after);
}

void changes_find(
	const struct snapshot *before, const struct snapshot *after, struct changes *ret_changes)
{
	static const struct snapshot empty = SNAPSHOT_INIT;
	struct changes changes = { .is_truncated = after->is_truncated };
	size_t i = 0, j = 0;

	before = before ? before : &empty;
	changes.list = xcalloc(CHANGES_MAX, sizeof(*changes.list));
	while (i < before->n || j < after->n) {
		const struct snapshot_entry *old = i < before->n ? &before->entries[i] : NULL;
		const struct snapshot_entry *new = j < after->n ? &after->entries[j] : NULL;
		int order = !old ? 1 : !new ? -1 : snapshot_compare(old->path, new->path);

		compare(&changes, order <= 0 ? old : NULL, order >= 0 ? new : NULL);
		i += order <= 0;
		j += order >= 0;
	}
	*ret_changes = changes;
}

void changes_fini(struct changes *changes)
{
	free(changes->list);
	*changes = (struct changes){ .list = NULL };
}

const char *change_name(enum change_kind kind)
{
	switch (kind) {
	case CHANGE_CREATED:
		return "created";
	case CHANGE_MODIFIED:
		return "modified";
	case CHANGE_DELETED:
		return "deleted";
	case CHANGE_KIND_MAX:
		break;
	}
	unreachable_();
}
