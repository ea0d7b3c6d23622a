/*
 * The listing was made from a hostile home by a short-lived walker, so each record is checked by
 * listing_next. It is read, not mapped: most are smaller than what a mapping costs, and may be kept
 * until the session's next run (jail/files/listed.h).
 */
#include "jail/files/snapshot.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/fd.h"
#include "base/macro.h"
#include "extent/extent.h"
#include "jail/client/jaild.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int snapshot_compare(struct str a, struct str b)
{
	int order = memcmp(a.p, b.p, MIN(a.n, b.n));

	if (order != 0)
		return order;
	return (a.n > b.n) - (a.n < b.n);
}

static int compare_entries(const void *a, const void *b)
{
	const struct snapshot_entry *left = a, *right = b;

	return snapshot_compare(left->path, right->path);
}

/* Fills the entries from the records. Returns 0 or -EBADMSG. */
static int records_read(struct snapshot *snapshot)
{
	const struct listing_entry *entry;
	const char *path;
	size_t at = 0;
	int r;

	snapshot->entries = xcalloc(snapshot->size / sizeof(*entry), sizeof(*snapshot->entries));
	while ((r = listing_next(snapshot->data, snapshot->size, &at, &entry, &path)) > 0) {
		if (snapshot->n == LISTING_ENTRIES_MAX)
			return -EBADMSG;
		snapshot->entries[snapshot->n++] =
			(struct snapshot_entry){ .path = { .p = path, .n = entry->path_size },
				.is = entry };
	}
	qsort(snapshot->entries, snapshot->n, sizeof(*snapshot->entries), compare_entries);
	return r;
}

int snapshot_load(int fd, uint64_t size, uint32_t cut, struct snapshot *ret_snapshot)
{
	struct snapshot snapshot = { .size = (size_t)size, .is_truncated = cut != 0, .cut = cut };
	struct stat st;
	int r;

	if (size > LISTING_SIZE_MAX || !fd_is_sealed(fd))
		return -EBADMSG;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size < 0 || (uint64_t)st.st_size != size)
		return -EBADMSG;
	if (size > 0) {
		snapshot.data = xmalloc(snapshot.size);
		r = pread(fd, snapshot.data, snapshot.size, 0) == (ssize_t)snapshot.size
			    ? records_read(&snapshot)
			    : -EBADMSG;
		if (r < 0) {
			snapshot_fini(&snapshot);
			return r;
		}
	}
	*ret_snapshot = snapshot;
	return 0;
}

int snapshot_fetch(struct jaild *jaild, uint64_t session, uint32_t flags,
	const struct extent_key *key, struct snapshot *ret_snapshot)
{
	struct wire_list request = { .session = session, .flags = flags };
	struct wire_listing_is listing;
	AUTO_CLOSE int fd = -1;
	int r;

	static_assert(sizeof(request.hash_key) == sizeof(key->bytes), "one key");
	assert(key || !(flags & WIRE_LIST_HASH));
	if (key)
		memcpy(request.hash_key, key->bytes, sizeof(request.hash_key));
	r = jaild_list(jaild, &request, &listing, &fd);
	if (r < 0)
		return r;
	r = snapshot_load(fd, listing.size_bytes, listing.is_truncated, ret_snapshot);
	if (r < 0)
		fault_set(&jaild->fault, FAULT_SANDBOX_UNAVAILABLE,
			"jaild's listing of the home is malformed");
	return r;
}

struct str snapshot_target(const struct snapshot_entry *entry)
{
	return (struct str){ .p = entry->path.p + entry->path.n, .n = entry->is->target_size };
}

void snapshot_fini(struct snapshot *snapshot)
{
	free(snapshot->data);
	free(snapshot->entries);
	*snapshot = (struct snapshot)SNAPSHOT_INIT;
}
