#include "jail/files/listed.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/macro.h"

#include <stdlib.h>

void listed_init(struct listed *listed)
{
	*listed = (struct listed){ .last = SNAPSHOT_INIT, .is_known = true };
}

static void forget(struct listed *listed)
{
	listed->is_known = false;
	snapshot_fini(&listed->last);
}

void listed_fini(struct listed *listed)
{
	forget(listed);
}

void listed_change_begin(struct listed *listed)
{
	listed->changing++;
	listed->changes++;
	forget(listed);
}

void listed_change_end(struct listed *listed)
{
	assert(listed->changing > 0);
	listed->changing--;
}

uint64_t listed_mark(const struct listed *listed)
{
	return listed->changing > 0 ? LISTED_NEVER : listed->changes;
}

bool listed_is_at(const struct listed *listed, uint64_t mark)
{
	return mark == listed->changes; /* LISTED_NEVER is never reached */
}

/* Every file has its hash, without which a write through a mapping would not show. */
static bool is_hashed(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->n; i++) {
		const struct listing_entry *entry = snapshot->entries[i].is;

		if (entry->kind == LISTING_FILE && !entry->is_hashed)
			return false;
	}
	return true;
}

void listed_keep(struct listed *listed, uint64_t mark, struct snapshot *snapshot)
{
	forget(listed);
	if (listed_is_at(listed, mark) && !snapshot->is_truncated &&
		snapshot->size + snapshot->n * sizeof(*snapshot->entries) <= LISTED_SIZE_MAX &&
		is_hashed(snapshot)) {
		listed->last = *snapshot;
		listed->is_known = true;
	} else {
		snapshot_fini(snapshot);
	}
	*snapshot = (struct snapshot)SNAPSHOT_INIT;
}

bool listed_take(struct listed *listed, int64_t now_ns, struct snapshot *ret_snapshot)
{
	int64_t newest_ns = INT64_MIN;

	for (size_t i = 0; i < listed->last.n; i++)
		newest_ns = MAX(newest_ns, listed->last.entries[i].is->ctime_ns);
	if (!listed->is_known || newest_ns >= now_ns) {
		forget(listed);
		return false;
	}
	*ret_snapshot = listed->last;
	listed->last = (struct snapshot)SNAPSHOT_INIT;
	listed->is_known = false;
	return true;
}
