/* Few archives are on their way at once (each is a request), so a list that is walked is enough. */
#include "call/archive_share.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct archive_share {
	struct archive_share *next;
	char *tenant; /* owned */
	unsigned archives;
	uint64_t bytes;
};

static struct {
	pthread_mutex_t mutex; /* a leaf */
	struct archive_share *first;
	uint64_t bytes;
} all = { .mutex = PTHREAD_MUTEX_INITIALIZER };

struct archive_share *archive_share_enter(const char *tenant)
{
	struct archive_share *share;

	(void)pthread_mutex_lock(&all.mutex);
	for (share = all.first; share && strcmp(share->tenant, tenant) != 0;)
		share = share->next;
	if (!share) {
		share = xcalloc(1, sizeof(*share));
		share->tenant = xstrdup(tenant);
		share->next = all.first;
		all.first = share;
	}
	share->archives++;
	(void)pthread_mutex_unlock(&all.mutex);
	return share;
}

int archive_share_take(struct archive_share *share, uint64_t n)
{
	int r = 0;

	(void)pthread_mutex_lock(&all.mutex);
	if (n > ARCHIVE_TENANT_MAX - share->bytes)
		r = -EDQUOT;
	else if (n > ARCHIVE_BYTES_MAX - all.bytes)
		r = -EBUSY;
	if (r == 0) {
		share->bytes += n;
		all.bytes += n;
	}
	(void)pthread_mutex_unlock(&all.mutex);
	return r;
}

void archive_share_leave(struct archive_share *share, uint64_t bytes)
{
	struct archive_share **at = &all.first;

	(void)pthread_mutex_lock(&all.mutex);
	assert(bytes <= share->bytes);
	share->bytes -= bytes;
	all.bytes -= bytes;
	if (--share->archives == 0) {
		while (*at != share)
			at = &(*at)->next;
		*at = share->next;
		free(share->tenant);
		free(share);
	}
	(void)pthread_mutex_unlock(&all.mutex);
}
