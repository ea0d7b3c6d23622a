#pragma once

#include <stdint.h>

/* The memory of archives on their way out: how much of it each tenant has. Any thread. */

/* Bytes of archives in memory at once, of all tenants, and of one tenant: half of it, so that who
 * reads slowly keeps nobody else from exporting. One archive may be as large as that: holes become
 * zeros in a tar. */
#define ARCHIVE_BYTES_MAX  ((uint64_t)1 << 30)
#define ARCHIVE_TENANT_MAX ((uint64_t)512 << 20)
#define ARCHIVE_MAX	   ARCHIVE_TENANT_MAX

struct archive_share;

/* The tenant's share, for one archive more; leave it with archive_share_leave. */
struct archive_share *archive_share_enter(const char *tenant);

/* Takes n bytes. Returns 0, -EDQUOT when the tenant has no more, or -EBUSY when there are no more.
 */
int archive_share_take(struct archive_share *share, uint64_t n);

/* One archive of `bytes`, all that was taken for it, is gone. */
void archive_share_leave(struct archive_share *share, uint64_t bytes);
