/*
 * Theory of operation: out, the archive is put together in memory before the answer begins, so that
 * its length is known and a session that closes meanwhile gives a fault and not a torn archive; how
 * much memory all of them take is bounded. In, entries are made as they come, in a session that
 * nobody else has yet: when anything is wrong with the archive the session is closed again, so that
 * it is there whole or not at all. Names are for jaild to look up, beneath the home.
 */
#include "call/archive.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/macro.h"
#include "call/bring.h"
#include "call/download.h"
#include "extent/extent.h"
#include "house/house.h"
#include "jail/files/links.h"
#include "jail/files/snapshot.h"
#include "store/manifest.h"
#include "tar/read.h"
#include "tar/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_SIZE (256u * 1024)
/* Bytes of the names of an import's folders, which are held until its end: 16,384 of 128. */
#define FOLDERS_BYTES_MAX ((size_t)2 * 1024 * 1024)

/* One archive on its way out. */
struct outgoing {
	struct visit *visit;
	struct archive_share *share;
	int fd;
	uint64_t at; /* bytes of the archive so far, which are taken of the share */
	struct links links;
	char *block;
	struct fault *fault;
};

/* Memory for n bytes more. */
static int outgoing_grow(struct outgoing *out, uint64_t n)
{
	int r;

	if (n > ARCHIVE_MAX || out->at > ARCHIVE_MAX - n) {
		fault_set(out->fault, FAULT_TOO_LARGE,
			"the archive would be over %llu MiB: holes of files become zeros in a tar",
			(unsigned long long)(ARCHIVE_MAX >> 20));
		fault_advise(out->fault, "Take the files one by one, or delete some first.");
		return -EFBIG;
	}
	r = archive_share_take(out->share, n);
	if (r < 0)
		fault_set(out->fault, FAULT_SERVER_BUSY, "too many archives%s are on their way",
			r == -EDQUOT ? " of this tenant" : "");
	else
		out->at += n;
	return r;
}

static int head_add(struct outgoing *out, const struct tar_entry *entry)
{
	AUTO_BUF struct buf head = BUF_INIT(TAR_HEAD_MAX);
	uint64_t at = out->at;
	int r = tar_write_head(entry, &head);

	if (r == 0)
		r = outgoing_grow(
			out, head.len + entry->size_bytes + tar_padding(entry->size_bytes));
	if (r == 0 && pwrite(out->fd, head.data, head.len, (off_t)at) != (ssize_t)head.len)
		r = -EIO;
	return r;
}

/* The bytes of an open file, which begin at `to` in the archive; holes are left out. */
static int bytes_add(struct outgoing *out, int fd, uint64_t size, uint64_t to)
{
	struct extent extent;
	uint64_t at = 0;
	int r;

	while ((r = extent_next(fd, at, size, &extent)) > 0) {
		for (at = extent.offset; at < extent.offset + extent.size;) {
			ssize_t n = pread(fd, out->block,
				MIN((uint64_t)BLOCK_SIZE, extent.offset + extent.size - at),
				(off_t)at);

			if (n <= 0 || pwrite(out->fd, out->block, (size_t)n, (off_t)(to + at)) != n)
				return -EIO;
			at += (uint64_t)n;
		}
	}
	return r;
}

static int file_add(
	struct outgoing *out, struct tar_entry *entry, const struct snapshot *snapshot, size_t i)
{
	const struct listing_entry *is = snapshot->entries[i].is;
	AUTO_FREE char *path = xasprintf("%.*s", STR_ARG(entry->path));
	struct wire_file_is file;
	AUTO_CLOSE int fd = -1;
	int r = jaild_file_open(out->visit->jaild, out->visit->id, path, &file, &fd);

	if (r == -ENOENT || r == -EINVAL || r == -ELOOP || r == -ENOTDIR)
		return 0; /* gone meanwhile */
	if (r < 0) {
		*out->fault = out->visit->jaild->fault;
		return r;
	}
	if (is->links > 1)
		links_add(&out->links, is->inode, i);
	entry->size_bytes = file.size_bytes;
	r = head_add(out, entry);
	if (r == 0)
		r = bytes_add(out, fd, entry->size_bytes,
			out->at - entry->size_bytes - tar_padding(entry->size_bytes));
	return r;
}

/* The first name of the file, if this is a further one and the first is in the archive. */
static struct str first_name(const struct outgoing *out, const struct snapshot *snapshot, size_t i)
{
	const struct listing_entry *is = snapshot->entries[i].is;
	size_t first;

	if (is->links > 1 && links_find(&out->links, is->inode, &first) == 0)
		return snapshot->entries[first].path;
	return STR("");
}

static int entry_add(struct outgoing *out, const struct snapshot *snapshot, size_t i)
{
	const struct snapshot_entry *seen = &snapshot->entries[i];
	struct tar_entry entry = { .path = seen->path,
		.target = STR(""),
		.mode = seen->is->mode & 0777,
		.mtime_ns = seen->is->mtime_ns };

	switch ((enum listing_kind)seen->is->kind) {
	case LISTING_FILE:
		entry.target = first_name(out, snapshot, i);
		entry.kind = entry.target.n > 0 ? TAR_SAME : TAR_FILE;
		return entry.kind == TAR_SAME ? head_add(out, &entry)
					      : file_add(out, &entry, snapshot, i);
	case LISTING_FOLDER:
		entry.kind = TAR_FOLDER;
		return head_add(out, &entry);
	case LISTING_LINK:
		entry.kind = TAR_LINK;
		entry.target = snapshot_target(seen);
		return head_add(out, &entry);
	case LISTING_OTHER:
	case LISTING_KIND_MAX:
		break;
	}
	return 0;
}

/* An archive that lacks something without saying so is no copy of the session. */
static int refuse_part(struct outgoing *out, uint32_t cut)
{
	if (cut & LISTING_CUT_TIME)
		fault_set(out->fault, FAULT_SANDBOX_UNAVAILABLE,
			"the session could not be read in time");
	else
		fault_set(out->fault, FAULT_TOO_LARGE,
			"the session has more files, or longer names, than an archive takes");
	fault_advise(out->fault,
		cut & LISTING_CUT_TIME ? "Try again; with fewer files it is faster."
				       : "Take the files one by one, or pack many into one first.");
	return -EFBIG;
}

static int all_add(struct outgoing *out)
{
	struct snapshot snapshot = SNAPSHOT_INIT;
	int r = visit_list(out->visit, WIRE_LIST_TARGETS, &snapshot);

	if (r < 0)
		*out->fault = out->visit->jaild->fault;
	if (r == 0 && snapshot.is_truncated)
		r = refuse_part(out, snapshot.cut);
	for (size_t i = 0; r == 0 && i < snapshot.n; i++)
		r = entry_add(out, &snapshot, i);
	links_fini(&out->links);
	snapshot_fini(&snapshot);
	if (r == 0)
		r = outgoing_grow(out, TAR_END_SIZE);
	if (r == 0 && ftruncate(out->fd, (off_t)out->at) < 0)
		r = -errno;
	return r;
}

int archive_export(struct house *house, const struct files_at *at, int client_fd,
	struct files_open_result *ret_file, struct fault *ret_fault)
{
	AUTO_FREE struct files_download *download = xcalloc(1, sizeof(*download));
	struct outgoing out = { .visit = &download->visit, .fd = -1, .fault = ret_fault };
	AUTO_CLOSE int fd = -1;
	int r = files_visit(house, at, &download->visit, ret_fault);

	if (r < 0)
		return r;
	fault_set(ret_fault, FAULT_INTERNAL, "the archive could not be made");
	out.share = archive_share_enter(at->tenant);
	out.fd = fd = memfd_create("archive", MFD_CLOEXEC);
	out.block = xmalloc(BLOCK_SIZE);
	r = fd < 0 ? -errno : all_add(&out);
	free(out.block);
	if (r < 0) {
		archive_share_leave(out.share, out.at);
		visit_end(&download->visit);
		return r;
	}
	download->share = out.share;
	download->memory_bytes = out.at;
	visit_transfer(&download->visit, TRANSFER_DOWNLOAD, client_fd);
	*ret_file = (struct files_open_result){ .fd = TAKE_FD(fd),
		.download = TAKE_PTR(download),
		.size_bytes = out.at,
		.mime = "application/x-tar" };
	return 0;
}

struct archive_import {
	struct tar_sink sink;
	struct attention attention;
	struct visit visit;
	struct bring bring;
	bool is_bringing;
	struct tar_reader reader;
	/* Folders get mode and time last: what is put into them would change the time. */
	struct manifest folders;
	size_t folder_bytes; /* of their names */
	struct fault *fault; /* of the call under way */
};

static int bad_path(struct archive_import *import, struct str path, const char *why)
{
	fault_set_field(import->fault, "path", "'%.*s' in the archive %s",
		(int)MIN(path.n, (size_t)100), path.p ? path.p : "", why);
	return -EINVAL;
}

/* What jaild refused is wrong with the archive, unless the home is full or jaild is gone. */
static int refused(struct archive_import *import, struct str path, int error)
{
	enum fault_code code = import->fault->code;

	if (code == FAULT_NOT_FOUND || code == FAULT_SESSION_BUSY || code == FAULT_BAD_REQUEST)
		return bad_path(import, path,
			"stands in the way of another entry, or leads "
			"through a link");
	return error;
}

/* Not more than could be made in the home. */
static int folder_note(struct archive_import *import, const struct tar_entry *entry)
{
	struct manifest_entry folder = {
		.kind = MANIFEST_FOLDER, .mode = entry->mode, .mtime_ns = entry->mtime_ns
	};

	if (import->folders.n >= import->visit.limits->home_inodes ||
		entry->path.n > FOLDERS_BYTES_MAX - import->folder_bytes)
		return bad_path(import, entry->path, "is one folder too many");
	import->folder_bytes += entry->path.n;
	folder.path = xasprintf("%.*s", STR_ARG(entry->path));
	manifest_append(&import->folders, &folder);
	return 0;
}

static int make(struct archive_import *import, const struct tar_entry *entry)
{
	AUTO_FREE char *path = xasprintf("%.*s", STR_ARG(entry->path));
	AUTO_FREE char *target = xasprintf("%.*s", STR_ARG(entry->target));
	const struct jaild_make asked = { .session = import->visit.id,
		.kind = entry->kind == TAR_LINK ? WIRE_MAKE_LINK : WIRE_MAKE_SAME,
		.path = path,
		.text = target,
		.mtime_ns = entry->mtime_ns };
	int r;

	if (entry->target.n == 0 || memchr(entry->target.p, '\0', entry->target.n))
		return bad_path(import, entry->path, "is a link to nothing");
	visit_change_begin(&import->visit);
	r = jaild_make(import->visit.jaild, &asked);
	visit_change_end(&import->visit);
	if (r < 0) {
		*import->fault = import->visit.jaild->fault;
		return refused(import, entry->path, r);
	}
	return 0;
}

static int on_entry(struct tar_sink *sink, const struct tar_entry *entry)
{
	struct archive_import *import = container_of(sink, struct archive_import, sink);
	int r;

	if (!manifest_path_is_valid(entry->path))
		return bad_path(import, entry->path,
			"is no path of a session: relative, without .. and empty parts");
	if (entry->kind == TAR_FOLDER)
		return folder_note(import, entry);
	if (entry->kind != TAR_FILE)
		return make(import, entry);
	r = bring_begin(&import->bring, &import->visit, entry->path, entry->mode, import->fault);
	if (r < 0)
		return refused(import, entry->path, r);
	import->bring.has_mtime = true;
	import->bring.mtime_ns = entry->mtime_ns;
	import->is_bringing = true;
	return 0;
}

static int on_data(struct tar_sink *sink, struct str bytes)
{
	struct archive_import *import = container_of(sink, struct archive_import, sink);

	return bring_write(&import->bring, bytes.p, bytes.n, import->fault);
}

static int on_end(struct tar_sink *sink)
{
	struct archive_import *import = container_of(sink, struct archive_import, sink);
	AUTO_FREE char *path = xstrdup(import->bring.path);
	int r;

	import->is_bringing = false;
	r = bring_commit(&import->bring, NULL, import->fault);
	return r < 0 ? refused(import, str_from(path), r) : 0;
}

/* The session stays, or with is_failed goes as well. */
static void import_free(struct archive_import *import, bool is_failed)
{
	if (import->is_bringing)
		bring_abort(&import->bring);
	tar_reader_fini(&import->reader);
	manifest_fini(&import->folders);
	if (is_failed)
		visit_end_closing(&import->visit);
	else
		visit_end(&import->visit);
	attention_fini(&import->attention);
	free(import);
}

/* The session is there already: nothing of it is touched. */
static int refuse_there(struct archive_import *import, struct fault *ret_fault)
{
	fault_set(ret_fault, FAULT_SESSION_BUSY, "the session is there already");
	fault_advise(ret_fault,
		"Close it first (DELETE, cloche session rm), or import under another key.");
	import_free(import, false);
	return -EEXIST;
}

int archive_import_begin(struct house *house, const struct files_upload_request *request,
	struct archive_import **ret_import, struct fault *ret_fault)
{
	struct archive_import *import = xcalloc(1, sizeof(*import));
	struct files_upload_request asked = *request;
	int r = visit_check_policy(asked.policy, ret_fault);

	/* The policy of one that is there does not matter: it is refused as being there. */
	asked.policy_default = asked.policy;
	asked.policy = NULL;
	if (r == 0)
		r = files_visit_opening(
			house, &asked, &import->attention, &import->visit, ret_fault);
	if (r < 0) {
		free(import);
		return r;
	}
	import->sink = (struct tar_sink){ on_entry, on_data, on_end };
	tar_reader_init(&import->reader, &import->sink);
	if (!import->visit.is_new)
		return refuse_there(import, ret_fault);
	visit_transfer(&import->visit, TRANSFER_UPLOAD, request->client_fd);
	*ret_import = import;
	return 0;
}

int archive_import_feed(
	struct archive_import *import, const void *data, size_t size, struct fault *ret_fault)
{
	int r;

	fault_set_field(ret_fault, "tar", "the body is no tar of the kinds ustar, pax or GNU");
	import->fault = ret_fault;
	r = tar_reader_feed(&import->reader, data, size);
	if (r == -EOPNOTSUPP)
		fault_set_field(ret_fault, "tar", "files with holes are not read; make it without");
	return r;
}

/* The deepest first. An archive may name a folder twice: the last word counts. */
static int folders_make(struct archive_import *import)
{
	int r = 0;

	for (size_t i = import->folders.n; r == 0 && i-- > 0;) {
		const struct manifest_entry *folder = &import->folders.entries[i];
		const struct jaild_make make = { .session = import->visit.id,
			.kind = WIRE_MAKE_FOLDER,
			.path = folder->path,
			.mode = folder->mode,
			.mtime_ns = folder->mtime_ns };

		visit_change_begin(&import->visit);
		r = jaild_make(import->visit.jaild, &make);
		visit_change_end(&import->visit);
		if (r < 0) {
			*import->fault = import->visit.jaild->fault;
			r = refused(import, str_from(folder->path), r);
		}
	}
	return r;
}

int archive_import_end(
	struct archive_import *import, uint64_t *ret_skipped, struct fault *ret_fault)
{
	uint64_t dropped = 0;
	int r = tar_reader_end(&import->reader);

	import->fault = ret_fault;
	if (r < 0)
		fault_set_field(
			ret_fault, "tar", "the archive is cut: its end is missing; send it whole");
	if (r == 0)
		r = folders_make(import);
	if (r == 0)
		r = visit_save(&import->visit, NULL, 0, &dropped, ret_fault);
	*ret_skipped = import->reader.skipped + dropped;
	import_free(import, r < 0);
	return r;
}

void archive_import_abort(struct archive_import *import)
{
	import_free(import, true);
}
