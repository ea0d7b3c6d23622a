/*
 * Theory of operation: each call is one visit. An upload is a visit that lasts from files_create to
 * its end, since jaild ties an upload to the connection it came over. A download is one until its
 * last byte is sent, without a connection: its descriptor would keep the file's pages, and with
 * slow readers the files of any number of closed sessions.
 */
#include "call/files.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/macro.h"
#include "call/archive_share.h"
#include "call/bring.h"
#include "call/download.h"
#include "house/house.h"
#include "house/visit/visit.h"
#include "jail/files/changes.h"
#include "jail/files/mime.h"
#include "jail/files/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct files_upload {
	struct attention attention;
	struct visit visit;
	struct bring bring;
};

/* The path as jaild takes it; NULL with the fault if it cannot be one. The caller frees. */
static char *path_take(struct str path, struct fault *ret_fault)
{
	if (path.n > 0 && path.n < WIRE_PATH_SIZE && !memchr(path.p, '\0', path.n))
		return xasprintf("%.*s", STR_ARG(path));
	fault_set(ret_fault, FAULT_NOT_FOUND, "the path names no regular file");
	return NULL;
}

int files_visit(struct house *house, const struct files_at *at, struct visit *ret_visit,
	struct fault *ret_fault)
{
	struct attention attention;
	struct visit_request request = {
		.tenant = at->tenant, .key = at->key, .attention = &attention
	};
	int r = attention_init(&attention, -1);

	if (r < 0) {
		fault_set(ret_fault, FAULT_INTERNAL, "no descriptors: %s", strerror(-r));
		return r;
	}
	/* Only the wait for a place of a session that has to be restored asks it. */
	r = visit_begin(house, &request, ret_visit, ret_fault);
	attention_fini(&attention);
	return r;
}

int files_open(struct house *house, const struct files_at *at, int client_fd,
	struct files_open_result *ret_file, struct fault *ret_fault)
{
	AUTO_FREE char *path = path_take(at->path, ret_fault);
	AUTO_FREE struct files_download *download = xcalloc(1, sizeof(*download));
	struct visit *visit = &download->visit;
	AUTO_CLOSE int fd = -1;
	char head[MIME_HEAD_SIZE];
	struct wire_file_is file;
	ssize_t n;
	int r = path ? files_visit(house, at, visit, ret_fault) : -EINVAL;

	if (r < 0)
		return r;
	r = jaild_file_open(visit->jaild, visit->id, path, &file, &fd);
	if (r < 0) {
		*ret_fault = visit->jaild->fault;
		visit_end(visit);
		return r;
	}
	visit_transfer(visit, TRANSFER_DOWNLOAD, client_fd);
	n = pread(fd, head, sizeof(head), 0);
	*ret_file = (struct files_open_result){ .fd = TAKE_FD(fd),
		.download = TAKE_PTR(download),
		.size_bytes = file.size_bytes,
		.mtime_ns = file.mtime_ns,
		.inode = file.inode,
		.mime = mime_guess(
			at->path, (struct str){ .p = head, .n = n > 0 ? (size_t)n : 0 }) };
	return 0;
}

void files_download_end(struct files_download *download)
{
	if (!download)
		return;
	if (download->share)
		archive_share_leave(download->share, download->memory_bytes);
	visit_end(&download->visit);
	free(download);
}

int files_remove(struct house *house, const struct files_at *at, struct fault *ret_fault)
{
	AUTO_FREE char *path = path_take(at->path, ret_fault);
	struct visit visit;
	int r = path ? files_visit(house, at, &visit, ret_fault) : -EINVAL;

	if (r < 0)
		return r;
	visit_change_begin(&visit);
	r = jaild_file_remove(visit.jaild, visit.id, path);
	visit_change_end(&visit);
	if (r < 0)
		*ret_fault = visit.jaild->fault;
	else
		r = visit_save_removal(&visit, path, ret_fault);
	visit_end(&visit);
	return r;
}

int files_visit_opening(struct house *house, const struct files_upload_request *request,
	struct attention *attention, struct visit *visit, struct fault *ret_fault)
{
	struct visit_request asked = { .tenant = request->at.tenant,
		.key = request->at.key,
		.profile = request->profile,
		.profiles = request->profiles,
		.policy = request->policy,
		.policy_default = request->policy_default,
		.opens = true,
		.is_import = request->is_import,
		.attention = attention };
	int r = attention_init(attention, request->client_fd);

	if (r < 0) {
		fault_set(ret_fault, FAULT_INTERNAL, "no descriptors: %s", strerror(-r));
		return r;
	}
	r = visit_begin(house, &asked, visit, ret_fault);
	if (r < 0)
		attention_fini(attention);
	return r;
}

int files_create(struct house *house, const struct files_upload_request *request,
	struct files_upload **ret_upload, struct fault *ret_fault)
{
	struct files_upload *upload = xcalloc(1, sizeof(*upload));
	int r = files_visit_opening(house, request, &upload->attention, &upload->visit, ret_fault);

	if (r < 0) {
		free(upload);
		return r;
	}
	r = bring_begin(&upload->bring, &upload->visit, request->at.path,
		request->is_executable ? 0755 : 0644, ret_fault);
	if (r < 0) {
		visit_end(&upload->visit);
		attention_fini(&upload->attention);
		free(upload);
		return r;
	}
	visit_transfer(&upload->visit, TRANSFER_UPLOAD, request->client_fd);
	*ret_upload = upload;
	return 0;
}

int files_write(struct files_upload *upload, const void *data, size_t size, struct fault *ret_fault)
{
	return bring_write(&upload->bring, data, size, ret_fault);
}

static void upload_free(struct files_upload *upload)
{
	visit_end(&upload->visit);
	attention_fini(&upload->attention);
	free(upload);
}

int files_commit(struct files_upload *upload, bool *ret_is_new, struct fault *ret_fault)
{
	AUTO_FREE char *path = xstrdup(upload->bring.path);
	int r = bring_commit(&upload->bring, ret_is_new, ret_fault);

	if (r == 0)
		r = visit_save_file(&upload->visit, path, ret_fault);
	upload_free(upload);
	return r;
}

void files_abort(struct files_upload *upload)
{
	if (!upload)
		return;
	bring_abort(&upload->bring);
	upload_free(upload);
}

/* Number of the first entry whose path is after `after`. */
static size_t first_after(const struct snapshot *snapshot, struct str after)
{
	size_t low = 0, high = snapshot->n;

	if (after.n == 0)
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (snapshot_compare(snapshot->entries[middle].path, after) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Fills the page with what the snapshot has after `after`; the paths still point into it. Returns
 * the bytes of all of them. */
static size_t page_fill(struct visit *visit, const struct snapshot *snapshot, struct str after,
	size_t limit, struct files_page *page)
{
	size_t bytes = 0;

	page->is_truncated = snapshot->is_truncated;
	page->entries = xcalloc(limit, sizeof(*page->entries));
	for (size_t i = first_after(snapshot, after); i < snapshot->n; i++) {
		const struct snapshot_entry *entry = &snapshot->entries[i];
		AUTO_FREE char *path = NULL;

		if (entry->is->kind != LISTING_FILE || changes_is_hidden(entry->path))
			continue;
		if (page->n == limit ||
			(page->n > 0 && entry->path.n > FILES_PAGE_BYTES_MAX - bytes)) {
			page->has_more = true;
			break;
		}
		bytes += entry->path.n;
		path = xasprintf("%.*s", STR_ARG(entry->path));
		page->entries[page->n++] = (struct files_entry){ .path = entry->path,
			.size_bytes = entry->is->size_bytes,
			.mtime_ns = entry->is->mtime_ns,
			.mime = visit_mime(visit, path) };
	}
	return bytes;
}

/* Copies the paths, so that the snapshot may go: it has all names of the home. */
static void page_take_paths(struct files_page *page, size_t bytes)
{
	char *at = page->paths = xmalloc(bytes);

	for (size_t i = 0; i < page->n; i++) {
		struct str *path = &page->entries[i].path;

		memcpy(at, path->p, path->n);
		path->p = at;
		at += path->n;
	}
}

/* Within the visit's turn to list. */
static int page_make(struct visit *visit, struct str after, size_t limit, struct files_page *page)
{
	struct snapshot snapshot = SNAPSHOT_INIT;
	int r = snapshot_fetch(visit->jaild, visit->id, 0, NULL, &snapshot);

	if (r < 0)
		return r;
	page_take_paths(page, page_fill(visit, &snapshot, after, limit, page));
	snapshot_fini(&snapshot);
	return 0;
}

int files_list(struct house *house, const struct files_at *at, size_t limit,
	struct files_page *ret_page, struct fault *ret_fault)
{
	struct files_page page = { .n = 0 };
	struct visit visit;
	int r = files_visit(house, at, &visit, ret_fault);

	if (r < 0)
		return r;
	limit = MIN(MAX(limit, (size_t)1), (size_t)FILES_PAGE_MAX);
	visit_listing_begin(&visit);
	r = page_make(&visit, at->path, limit, &page);
	visit_listing_end(&visit);
	if (r < 0)
		*ret_fault = visit.jaild->fault;
	else
		*ret_page = page;
	visit_end(&visit);
	return r;
}

void files_page_fini(struct files_page *page)
{
	free(page->entries);
	free(page->paths);
	*page = (struct files_page){ .n = 0 };
}
