/*
 * The bytes go straight into the file that jaild has opened, which has no name until it is whole.
 * The file system itself keeps the home's bound; the file's own bound is kept here, since a
 * daemon's RLIMIT_FSIZE is not the script's.
 */
#include "call/bring.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/macro.h"
#include "call/call.h"
#include "house/house.h"
#include "house/visit/visit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int not_found(struct fault *ret_fault)
{
	fault_set(ret_fault, FAULT_NOT_FOUND, "the path names no regular file");
	return -EINVAL;
}

int bring_begin(struct bring *bring, struct visit *visit, struct str path, unsigned mode,
	struct fault *ret_fault)
{
	const struct wire_limits *limits = visit->limits;
	struct jaild_upload upload = { .fd = -1 };
	AUTO_FREE char *name = NULL;
	int r;

	if (path.n == 0 || path.n >= WIRE_PATH_SIZE || memchr(path.p, '\0', path.n))
		return not_found(ret_fault);
	name = xasprintf("%.*s", STR_ARG(path));
	visit_change_begin(visit); /* folders on the way are made at once */
	r = jaild_file_create(visit->jaild, visit->id, name, mode, &upload);
	visit_change_end(visit);
	if (r < 0) {
		*ret_fault = visit->jaild->fault;
		return r;
	}
	*bring = (struct bring){ .visit = visit,
		.id = upload.id,
		.fd = upload.fd,
		.max_bytes = MIN(limits->file_bytes, limits->home_bytes),
		.path = TAKE_PTR(name) };
	return 0;
}

int bring_write(struct bring *bring, const void *data, size_t size, struct fault *ret_fault)
{
	int r = size > bring->max_bytes - bring->bytes ? -EFBIG : 0;

	if (r == 0)
		r = fd_write_full(bring->fd, data, size);
	if (r == 0) {
		bring->bytes += size;
		return 0;
	}
	if (r == -EFBIG || r == -ENOSPC || r == -EDQUOT)
		fault_set(ret_fault, FAULT_HOME_FULL, "it does not fit into the session's home");
	else
		fault_set(ret_fault, FAULT_INTERNAL, "writing into the session stopped: %s",
			strerror(-r));
	return r;
}

static void fini(struct bring *bring)
{
	bring->fd = fd_close(bring->fd);
	free(bring->path);
	bring->path = NULL;
}

void bring_abort(struct bring *bring)
{
	if (!bring->path)
		return;
	/* A lost connection drops the upload as well. */
	(void)jaild_file_abort(bring->visit->jaild, bring->id);
	fini(bring);
}

int bring_commit(struct bring *bring, bool *ret_is_new, struct fault *ret_fault)
{
	struct jaild *jaild = bring->visit->jaild;
	struct wire_file_is file;
	bool is_new = true;
	int fd = -1, r;

	bring->fd = fd_close(bring->fd);
	if (ret_is_new)
		is_new = jaild_file_open(jaild, bring->visit->id, bring->path, &file, &fd) < 0;
	(void)fd_close(fd);
	visit_change_begin(bring->visit);
	r = jaild_file_commit(jaild, bring->id, bring->has_mtime ? &bring->mtime_ns : NULL);
	visit_change_end(bring->visit);
	if (r < 0)
		*ret_fault = jaild->fault;
	else if (ret_is_new)
		*ret_is_new = is_new;
	if (r == 0)
		counters_add(house_counters_get(bring->visit->house), COUNTER_UPLOADED_BYTES,
			bring->bytes);
	fini(bring);
	return r;
}

static int bring_file(struct visit *visit, const struct call_file *file, struct fault *ret_fault)
{
	AUTO_BUF struct buf decoded = BUF_INIT(CALL_FILES_BYTES_MAX);
	struct str content = file->content;
	struct bring bring;
	int r;

	if (file->is_base64) {
		r = base64_decode(file->content, &decoded);
		if (r < 0)
			return r;
		content = buf_get_slice(&decoded);
	}
	r = bring_begin(&bring, visit, file->path, 0644, ret_fault);
	if (r < 0)
		return r;
	r = bring_write(&bring, content.p, content.n, ret_fault);
	if (r < 0) {
		bring_abort(&bring);
		return r;
	}
	return bring_commit(&bring, NULL, ret_fault);
}

int bring_files(
	struct visit *visit, const struct call_file *files, size_t n, struct fault *ret_fault)
{
	for (size_t i = 0; i < n; i++) {
		char field[48], text[sizeof(ret_fault->text)];
		int r = bring_file(visit, &files[i], ret_fault);

		if (r == 0)
			continue;
		/* A folder or a link stands in its way: the path is wrong, not the session. */
		if (ret_fault->code == FAULT_NOT_FOUND) {
			(void)str_format(field, sizeof(field), "files[%zu].path", i);
			(void)str_copy(text, sizeof(text), ret_fault->text);
			fault_set_field(ret_fault, field, "%s", text);
		}
		return r;
	}
	return 0;
}
