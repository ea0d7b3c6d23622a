#pragma once

#include "base/fault.h"
#include "base/str.h"
#include "wire/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct attention;
struct house;
struct visit;

/*
 * The files of a session, one call each, and each is the session's last call until the next. Paths
 * are bytes as the client sent them, relative to the home; jaild opens them beneath it and follows
 * no link. On an error *ret_fault tells what to answer: NOT_FOUND for a session or file that is not
 * there, for a folder, a link, or a path with "..", "." or an empty part; SANDBOX_UNAVAILABLE. A
 * kept session that has stopped is restored for the call; what is brought in or removed is durable
 * when the call returns, or STORE_FULL tells that it is in the session but not stored.
 */

struct files_at {
	const char *tenant;
	const char *key;
	struct str path; /* may hold any byte; NUL is NOT_FOUND */
};

/* A file on its way out. It is a call of its session, which stays open meanwhile; when the session
 * closes all the same (asked for, or too old) its client is cut off, since the pages of a file that
 * is open are the host's memory, whether its session exists or not. */
struct files_download;

struct files_open_result {
	int fd; /* for reading, position 0, a regular file; the caller closes it */
	struct files_download *download; /* ended by files_download_end after the close of fd */
	uint64_t size_bytes;
	int64_t mtime_ns; /* since 1970 */
	uint64_t inode;	  /* with mtime and size: an entity tag */
	const char *mime; /* a literal, for display */
};

/* Opens a file for the client behind client_fd, which is shut down when the session closes and must
 * stay open until files_download_end; -1: none. Returns 0 or -errno with *ret_fault. */
int files_open(struct house *house, const struct files_at *at, int client_fd,
	struct files_open_result *ret_file, struct fault *ret_fault);

/* NULL is fine. */
void files_download_end(struct files_download *download);

int files_remove(struct house *house, const struct files_at *at, struct fault *ret_fault);

/* A file on its way in. Until it is committed nobody sees it, and the session stays open. Used by
 * one thread. */
struct files_upload;

struct files_upload_request {
	struct files_at at;
	const char *profile;	     /* NULL: the open session's, or the default */
	const char *policy;	     /* the same */
	const char *policy_default;  /* of the caller; NULL: ephemeral */
	const char *const *profiles; /* that the tenant may ask for, NULL-ended; NULL: all */
	bool is_executable;	     /* 0755, else 0644 */
	bool is_import;		     /* nobody else gets into a session that it opens */
	int client_fd; /* watched for a hang-up while it waits for a place, and shut down when the
			  session closes under the upload; -1: none */
};

/* Begins the visit of what a client brings in: opens the session when it is not open, waits for a
 * place, with *attention looking for the client's hang-up. Returns 0, then the caller ends both;
 * or -errno with *ret_fault, and neither is open. */
int files_visit_opening(struct house *house, const struct files_upload_request *request,
	struct attention *attention, struct visit *visit, struct fault *ret_fault);

/* Opens the session when it is not open (which may wait, SANDBOX_BUSY), and the upload; end it with
 * files_commit or files_abort. Another profile than the open session's: INVALID_FIELD. */
int files_create(struct house *house, const struct files_upload_request *request,
	struct files_upload **ret_upload, struct fault *ret_fault);

/* Appends bytes. Returns 0, or -ENOSPC or -EFBIG with HOME_FULL, or -errno; then abort. */
int files_write(
	struct files_upload *upload, const void *data, size_t size, struct fault *ret_fault);

/* Gives the file its name, replacing what was there: *ret_is_new false (204), else true (201). The
 * upload is gone, also on an error. */
int files_commit(struct files_upload *upload, bool *ret_is_new, struct fault *ret_fault);
void files_abort(struct files_upload *upload);

/* A page of the regular files, sorted by the bytes of the path, without the caches that the run's
 * environment makes. */
struct files_page {
	struct files_entry {
		struct str path; /* bytes, perhaps not UTF-8, in paths */
		uint64_t size_bytes;
		int64_t mtime_ns;
		const char *mime; /* a literal */
	} * entries;
	size_t n;
	bool has_more;	   /* ask again, after the last path */
	bool is_truncated; /* the home holds more than a listing takes */
	char *paths;	   /* owned */
};

#define FILES_PAGE_MAX 1000
/* Bytes of paths, above which a page ends after the first file: 1,000 ordinary ones fit, and as
 * JSON it is seven times as long at most (each byte escaped; or repaired, and again in base64). */
#define FILES_PAGE_BYTES_MAX ((size_t)1024 * 1024)

/* The first `limit` (1 to FILES_PAGE_MAX) files, or fewer with long paths, after the path at->path
 * ("": from the start), which need not be there. End it with files_page_fini. Returns 0 or -errno
 * with *ret_fault. */
int files_list(struct house *house, const struct files_at *at, size_t limit,
	struct files_page *ret_page, struct fault *ret_fault);
void files_page_fini(struct files_page *page);
