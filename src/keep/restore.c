/*
 * Theory of operation: files first, whose folders jaild makes on the way; then links and further
 * names; folders last and from the deepest up, since what is put into one changes its time.
 */
#include "keep/keep.h"

#include "base/fd.h"
#include "jail/client/jaild.h"
#include "store/object.h"

#include <errno.h>

/* What jaild said of an entry that once was there: if the home does not take it, it is full, or
 * the manifest cannot be one of ours. */
static int refused(const struct keep_home *home, int error, struct fault *ret_fault)
{
	*ret_fault = home->jaild->fault;
	if (error == -EEXIST || error == -ENOTDIR || error == -EISDIR || error == -EINVAL ||
		error == -ENOENT || error == -ELOOP)
		return keep_fault(-EBADMSG, ret_fault);
	return error;
}

static int file_restore(struct keep *keep, const struct keep_home *home,
	const struct manifest_entry *entry, struct fault *ret_fault)
{
	struct jaild_upload upload = { .fd = -1 };
	int r = jaild_file_create(home->jaild, home->session, entry->path, entry->mode, &upload);

	if (r < 0)
		return refused(home, r, ret_fault);
	r = object_read(keep->store, keep->name, entry, upload.fd);
	(void)fd_close(upload.fd);
	if (r < 0) {
		(void)jaild_file_abort(home->jaild, upload.id);
		if (r != -ENOSPC && r != -EFBIG)
			return keep_fault(r, ret_fault);
		fault_set(ret_fault, FAULT_HOME_FULL,
			"the stored files do not fit into the session's home");
		return r;
	}
	r = jaild_file_commit(home->jaild, upload.id, &entry->mtime_ns);
	return r < 0 ? refused(home, r, ret_fault) : 0;
}

static int other_restore(const struct keep_home *home, const struct manifest_entry *entry,
	enum wire_make_kind kind, struct fault *ret_fault)
{
	const struct jaild_make make = { .session = home->session,
		.kind = kind,
		.path = entry->path,
		.text = entry->text,
		.mode = kind == WIRE_MAKE_FOLDER ? entry->mode : 0,
		.mtime_ns = entry->mtime_ns };
	int r = jaild_make(home->jaild, &make);

	return r < 0 ? refused(home, r, ret_fault) : 0;
}

static int home_fill(struct keep *keep, const struct keep_home *home, struct fault *ret_fault)
{
	const struct manifest *manifest = &keep->manifest;
	int r = 0;

	for (size_t i = 0; r == 0 && i < manifest->n; i++)
		if (manifest->entries[i].kind == MANIFEST_FILE)
			r = file_restore(keep, home, &manifest->entries[i], ret_fault);
	for (size_t i = 0; r == 0 && i < manifest->n; i++) {
		const struct manifest_entry *entry = &manifest->entries[i];

		if (entry->kind == MANIFEST_LINK)
			r = other_restore(home, entry, WIRE_MAKE_LINK, ret_fault);
		else if (entry->kind == MANIFEST_SAME)
			r = other_restore(home, entry, WIRE_MAKE_SAME, ret_fault);
	}
	for (size_t i = manifest->n; r == 0 && i-- > 0;)
		if (manifest->entries[i].kind == MANIFEST_FOLDER)
			r = other_restore(home, &manifest->entries[i], WIRE_MAKE_FOLDER, ret_fault);
	return r;
}

int keep_restore(struct keep *keep, const struct keep_home *home, uint64_t least_generation,
	struct fault *ret_fault)
{
	struct manifest manifest;
	int r = store_load(keep->store, keep->name, least_generation, &manifest);

	if (r < 0)
		return keep_fault(r == -ENOENT ? -EBADMSG : r, ret_fault);
	manifest_fini(&keep->manifest);
	keep->manifest = manifest;
	return home_fill(keep, home, ret_fault);
}
