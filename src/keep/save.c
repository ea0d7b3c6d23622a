/*
 * Theory of operation: a manifest of what is there now is built beside that of the last commit. A
 * file whose size and hash are those that were stored keeps its object; every other one is read and
 * stored anew. Times alone decide nothing: a write through a mapping changes none of them on tmpfs
 * (decision 19). A file that could not be hashed in time counts as changed.
 *
 * A save of one file while a script is running touches only this file: what the script has written
 * so far belongs to a run that has not been answered.
 */
#include "keep/keep.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/macro.h"
#include "jail/client/jaild.h"
#include "jail/files/links.h"
#include "jail/files/snapshot.h"
#include "store/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MODE_MASK 0777u
#define TRIES_MAX 5 /* to read a file that is cut or replaced meanwhile */
/* jaild's own names of a moment (jaild/upload.c), which a listing may catch. */
#define MOMENT_PREFIX ".cloche-"

/* One save of a whole home. */
struct save {
	struct keep *keep;
	const struct keep_home *home;
	struct manifest next;
	struct links links; /* of files that are in next */
	uint64_t dropped;
	struct fault *fault;
};

void keep_init(struct keep *keep, struct store *store, const char *tenant, const char *key,
	const char *profile)
{
	*keep = (struct keep){ .store = store, .manifest = MANIFEST_INIT };
	store_name(store, tenant, key, keep->name);
	(void)str_copy(keep->manifest.head.tenant, sizeof(keep->manifest.head.tenant), tenant);
	(void)str_copy(keep->manifest.head.key, sizeof(keep->manifest.head.key), key);
	(void)str_copy(keep->manifest.head.profile, sizeof(keep->manifest.head.profile), profile);
	keep->manifest.head.created_ns = clock_real_ns();
}

void keep_fini(struct keep *keep)
{
	manifest_fini(&keep->manifest);
}

int keep_fault(int error, struct fault *ret_fault)
{
	switch (error) {
	case -EDQUOT:
		fault_set(ret_fault, FAULT_STORE_FULL,
			"the store holds as much as store_max_bytes allows");
		break;
	case -ENOSPC:
		fault_set(ret_fault, FAULT_STORE_FULL, "the disk of the store is full");
		fault_advise(ret_fault, "Close kept sessions, or free space on that disk.");
		break;
	case -E2BIG:
		fault_set(ret_fault, FAULT_STORE_FULL,
			"the home has more names than a kept session may have: 70,000 of 16 MiB");
		fault_advise(ret_fault, "Delete files of the session, or pack many into one.");
		break;
	case -EBADMSG:
		fault_set(ret_fault, FAULT_STORE_CORRUPT,
			"the stored session is damaged, or older than it was");
		break;
	default:
		fault_set(ret_fault, FAULT_INTERNAL, "the store: %s", strerror(-error));
	}
	return error;
}

/* Not there any more, or another kind of thing: for this save it is not. */
static bool is_gone(int error)
{
	return error == -ENOENT || error == -EINVAL || error == -ELOOP || error == -ENOTDIR ||
	       error == -ENXIO;
}

/* Stores the file of the entry's path anew. Returns 1, 0 when it is gone, or -errno with the fault.
 */
static int file_store(struct keep *keep, const struct keep_home *home, struct manifest_entry *entry,
	struct fault *ret_fault)
{
	int r = -EAGAIN;

	for (int tries = 0; r == -EAGAIN && tries < TRIES_MAX; tries++) {
		struct wire_file_is file;
		AUTO_CLOSE int fd = -1;
		struct stat st;

		r = jaild_file_open(home->jaild, home->session, entry->path, &file, &fd);
		if (r < 0 && !is_gone(r))
			*ret_fault = home->jaild->fault;
		if (r < 0)
			return is_gone(r) ? 0 : r;
		if (fstat(fd, &st) < 0)
			return keep_fault(-errno, ret_fault);
		entry->mode = st.st_mode & MODE_MASK;
		entry->mtime_ns = clock_to_ns(&st.st_mtim);
		r = object_write(keep->store, keep->name, fd, entry);
	}
	return r < 0 ? keep_fault(r, ret_fault) : 1;
}

static struct manifest_entry entry_of(
	const struct snapshot_entry *seen, enum manifest_kind kind, struct str text)
{
	return (struct manifest_entry){ .path = xasprintf("%.*s", STR_ARG(seen->path)),
		.text = text.n > 0 ? xasprintf("%.*s", STR_ARG(text)) : NULL,
		.kind = kind,
		.mode = seen->is->mode & MODE_MASK,
		.mtime_ns = seen->is->mtime_ns };
}

/* The entry of a name that is not its file's first, or false. */
static bool same_add(struct save *save, const struct snapshot_entry *seen)
{
	struct manifest_entry entry;
	const char *first;
	size_t i;

	if (links_find(&save->links, seen->is->inode, &i) < 0)
		return false;
	first = save->next.entries[i].path;
	if (seen->path.n + strlen(first) > JAILD_NAMES_MAX) {
		save->dropped++;
		return true;
	}
	entry = entry_of(seen, MANIFEST_SAME, str_from(first));
	manifest_append(&save->next, &entry);
	return true;
}

static int file_add(struct save *save, const struct snapshot_entry *seen)
{
	const struct manifest_entry *old = manifest_find(&save->keep->manifest, seen->path);
	struct manifest_entry entry;
	int r = 1;

	if (seen->is->links > 1 && same_add(save, seen))
		return 0;
	entry = entry_of(seen, MANIFEST_FILE, STR(""));
	if (old && old->kind == MANIFEST_FILE && seen->is->is_hashed &&
		old->size_bytes == seen->is->size_bytes && old->hash[0] == seen->is->hash[0] &&
		old->hash[1] == seen->is->hash[1]) {
		entry.size_bytes = old->size_bytes;
		entry.stored_bytes = old->stored_bytes;
		memcpy(entry.hash, old->hash, sizeof(entry.hash));
		memcpy(entry.object, old->object, sizeof(entry.object));
	} else {
		r = file_store(save->keep, save->home, &entry, save->fault);
	}
	if (r <= 0) {
		free(entry.path);
		return r;
	}
	if (seen->is->links > 1)
		links_add(&save->links, seen->is->inode, save->next.n);
	manifest_append(&save->next, &entry);
	return 0;
}

static bool is_of_a_moment(struct str path)
{
	const char *slash = memrchr(path.p, '/', path.n);
	struct str name = path;

	if (slash) {
		name.p = slash + 1;
		name.n = (size_t)(path.p + path.n - name.p);
	}
	return name.n == sizeof(MOMENT_PREFIX) - 1 + ID_LEN && str_starts(name, STR(MOMENT_PREFIX));
}

static int entry_add(struct save *save, const struct snapshot_entry *seen)
{
	struct str target = snapshot_target(seen);
	struct manifest_entry entry;

	if (is_of_a_moment(seen->path))
		return 0;
	if (!manifest_path_is_valid(seen->path)) {
		save->dropped++;
		return 0;
	}
	switch ((enum listing_kind)seen->is->kind) {
	case LISTING_FILE:
		return file_add(save, seen);
	case LISTING_FOLDER:
		entry = entry_of(seen, MANIFEST_FOLDER, STR(""));
		manifest_append(&save->next, &entry);
		return 0;
	case LISTING_LINK:
		if (target.n == 0 || seen->path.n + target.n > JAILD_NAMES_MAX)
			break;
		entry = entry_of(seen, MANIFEST_LINK, target);
		manifest_append(&save->next, &entry);
		return 0;
	case LISTING_OTHER:
	case LISTING_KIND_MAX:
		break;
	}
	save->dropped++;
	return 0;
}

static bool is_same_text(const char *a, const char *b)
{
	return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool is_same(const struct manifest_entry *a, const struct manifest_entry *b)
{
	return a->kind == b->kind && a->mode == b->mode && a->mtime_ns == b->mtime_ns &&
	       memcmp(a->object, b->object, sizeof(a->object)) == 0 &&
	       strcmp(a->path, b->path) == 0 && is_same_text(a->text, b->text);
}

static bool is_unchanged(const struct manifest *a, const struct manifest *b)
{
	if (b->head.generation == 0 || a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!is_same(&a->entries[i], &b->entries[i]))
			return false;
	return true;
}

/* Commits next in place of the keep's manifest; next is used up in any case. */
static int commit(struct keep *keep, struct manifest *next, struct fault *ret_fault)
{
	int r;

	next->head = keep->manifest.head;
	next->head.used_ns = clock_real_ns();
	r = store_commit(keep->store, next, &keep->manifest);
	if (r < 0 && r != -EINPROGRESS) {
		store_discard(keep->store, next);
		manifest_fini(next);
		return keep_fault(r, ret_fault);
	}
	manifest_fini(&keep->manifest);
	keep->manifest = *next;
	*next = (struct manifest)MANIFEST_INIT;
	return r < 0 ? keep_fault(r, ret_fault) : 0;
}

int keep_save(struct keep *keep, const struct keep_home *home, const struct snapshot *now,
	uint64_t *ret_dropped, struct fault *ret_fault)
{
	struct save save = { .keep = keep,
		.home = home,
		.next = { .head = keep->manifest.head },
		.fault = ret_fault };
	int r = 0;

	for (size_t i = 0; r == 0 && i < now->n; i++)
		r = entry_add(&save, &now->entries[i]);
	links_fini(&save.links);
	if (r < 0) {
		store_discard(keep->store, &save.next);
		manifest_fini(&save.next);
		return r;
	}
	*ret_dropped = save.dropped;
	if (is_unchanged(&save.next, &keep->manifest)) {
		manifest_fini(&save.next);
		return 0;
	}
	return commit(keep, &save.next, ret_fault);
}

/* A copy of the manifest, to be changed and committed. */
static struct manifest copy_make(const struct manifest *manifest)
{
	struct manifest copy = { .head = manifest->head };

	for (size_t i = 0; i < manifest->n; i++) {
		struct manifest_entry entry = manifest_entry_copy(&manifest->entries[i]);

		manifest_append(&copy, &entry);
	}
	return copy;
}

/* True if the entry cannot be beside a file of this path: one of them lies below the other. */
static bool is_in_its_way(const struct manifest_entry *entry, const char *path)
{
	size_t n = strlen(path), own = strlen(entry->path);

	if (own > n)
		return strncmp(entry->path, path, n) == 0 && entry->path[n] == '/';
	return own < n && entry->kind != MANIFEST_FOLDER && path[own] == '/' &&
	       strncmp(entry->path, path, own) == 0;
}

/* Stores the bytes of an object once more, under another path. Returns 0 or -errno. */
static int object_copy(
	struct keep *keep, const struct manifest_entry *from, struct manifest_entry *to)
{
	AUTO_CLOSE int fd = memfd_create("object", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : object_read(keep->store, keep->name, from, fd);

	return r < 0 ? r : object_write(keep->store, keep->name, fd, to);
}

/* The file of this path goes away or becomes another one: if it has further names, the first of
 * them becomes the file's. An object is bound to its path, so its bytes are stored again. */
static int heir_choose(struct keep *keep, struct manifest *next, const char *path)
{
	const struct manifest_entry *first = manifest_find(next, str_from(path));
	struct manifest_entry *heir = NULL;

	if (!first || first->kind != MANIFEST_FILE)
		return 0;
	for (size_t i = 0; i < next->n; i++) {
		struct manifest_entry *entry = &next->entries[i];
		int r;

		if (entry->kind != MANIFEST_SAME || strcmp(entry->text, path) != 0)
			continue;
		free(entry->text);
		entry->text = heir ? xstrdup(heir->path) : NULL;
		if (heir)
			continue;
		heir = entry;
		entry->kind = MANIFEST_FILE;
		entry->mode = first->mode;
		r = object_copy(keep, first, entry);
		if (r < 0)
			return r;
	}
	return 0;
}

static int entry_remove(struct keep *keep, struct manifest *next, const char *path)
{
	struct manifest_entry *entry;
	int r = heir_choose(keep, next, path);

	entry = manifest_find(next, str_from(path));
	if (r == 0 && entry)
		manifest_remove(next, (size_t)(entry - next->entries));
	return r;
}

static void give_up(struct keep *keep, struct manifest *next)
{
	store_discard(keep->store, next);
	manifest_fini(next);
}

int keep_save_file(
	struct keep *keep, const struct keep_home *home, const char *path, struct fault *ret_fault)
{
	struct manifest_entry entry = { .path = xstrdup(path), .kind = MANIFEST_FILE };
	struct manifest next = copy_make(&keep->manifest);
	int r = heir_choose(keep, &next, path);

	for (size_t i = next.n; r == 0 && i-- > 0;) {
		if (i < next.n && is_in_its_way(&next.entries[i], path)) {
			AUTO_FREE char *other = xstrdup(next.entries[i].path);

			r = entry_remove(keep, &next, other);
		}
	}
	r = r < 0 ? keep_fault(r, ret_fault) : file_store(keep, home, &entry, ret_fault);
	if (r <= 0) {
		/* Gone again already: whoever removed it says so to the store. */
		free(entry.path);
		give_up(keep, &next);
		return r;
	}
	manifest_put(&next, &entry);
	return commit(keep, &next, ret_fault);
}

int keep_save_removal(struct keep *keep, const char *path, struct fault *ret_fault)
{
	struct manifest next;
	int r;

	if (!manifest_find(&keep->manifest, str_from(path)))
		return 0;
	next = copy_make(&keep->manifest);
	r = entry_remove(keep, &next, path);
	if (r < 0) {
		give_up(keep, &next);
		return keep_fault(r, ret_fault);
	}
	return commit(keep, &next, ret_fault);
}
