#pragma once

#include "call/archive_share.h" /* ARCHIVE_MAX */
#include "call/files.h"

/*
 * A whole session as a tar, and a session made out of one: files, further names of files, folders,
 * links, permission bits and times.
 */

/* Makes the archive of a session, which is a call of it as files_open is. Returns 0 or -errno with
 * *ret_fault: NOT_FOUND, TOO_LARGE over ARCHIVE_MAX or for a home that no listing holds whole,
 * SERVER_BUSY when too many are on their way, of all or of this tenant, SANDBOX_UNAVAILABLE. */
int archive_export(struct house *house, const struct files_at *at, int client_fd,
	struct files_open_result *ret_file, struct fault *ret_fault);

/* A session on its way in. Used by one thread. */
struct archive_import;

/* Opens a session that is not there yet (at->path is not used): SESSION_BUSY if it is. Nobody else
 * gets into it before the import's end. Else as files_create. End it with archive_import_end or
 * archive_import_abort. */
int archive_import_begin(struct house *house, const struct files_upload_request *request,
	struct archive_import **ret_import, struct fault *ret_fault);

/* The next bytes of the tar. After an error, abort. INVALID_FIELD (with the field "path" or "tar")
 * says what is wrong with it, HOME_FULL that it does not fit. */
int archive_import_feed(
	struct archive_import *import, const void *data, size_t size, struct fault *ret_fault);

/* All has come: returns 0 once the session has it, durably if it is kept, with the number of
 * entries that were passed over: what an archive may have and a session has not, and what cannot be
 * kept. Else -errno with *ret_fault, and the session is gone. The import is
 * over. */
int archive_import_end(
	struct archive_import *import, uint64_t *ret_skipped, struct fault *ret_fault);
void archive_import_abort(struct archive_import *import);
