#pragma once

#include "jaild/session.h"

/* Files on their way into a home. A client writes into a file without a name; jaild names it at the
 * end, so a script never sees half of it and an aborted upload leaves nothing. */

/* At once, of all clients together: each holds two descriptors. */
#define UPLOADS_MAX 64

/* A FILE_CREATE request, checked. */
struct upload_request {
	uint64_t client;
	const char *path;
	uint32_t mode; /* permission bits */
};

/* Makes a nameless file beneath the session's home for the path. Returns 0 with its id and a
 * write-only descriptor that the caller closes, or -errno; -ERANGE for more than permission bits.
 */
int upload_begin(struct session *session, const struct upload_request *request, uint64_t *ret_id,
	int *ret_fd);

/* Gives the file its time (since 1970; NULL: that of its last write) and its name, replacing a file
 * of that name. Returns 0, -ESRCH for an unknown id,
 * -EISDIR where a folder has the name, or -errno; the upload is over in any case. */
int upload_commit(struct jaild *jaild, uint64_t id, const int64_t *mtime_ns);

/* Forgets an upload: 0 or -ESRCH. */
int upload_abort(struct jaild *jaild, uint64_t id);

/* Forgets all uploads of a client. */
void uploads_drop_of(struct jaild *jaild, uint64_t client);

/* Forgets all uploads into a session. */
void uploads_drop(struct jaild *jaild, const struct session *session);

/* Removes a regular file. Returns 0 or -errno; -EINVAL when it is no regular file. */
int upload_remove(struct session *session, const char *path);
