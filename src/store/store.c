/*
 * Theory of operation: nothing that is in place is ever changed. An object is written under a name
 * of its own that nothing refers to yet; the manifest is written beside the old one and renamed
 * over it. So at every moment the folder holds the last committed state of each session, and at
 * most some files more, which the next start sweeps.
 *
 * That a manifest is not there before the objects that it names, whatever the machine does, follows
 * from the fsync of each of them, which on the file systems that we know (ext4, xfs, btrfs, zfs)
 * makes a new file's name durable too; the fsync of the folder after the rename covers both again.
 */
#include "store/store.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/beneath.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/macro.h"
#include "store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* From so many new objects on one call for the whole file system is less work than one for each. */
#define SYNC_EACH_MAX 64
#define SMALL_MAX     (16u * 1024 * 1024)

static const char check_text[] = "this store belongs to the secret";

static void hex_format(const uint8_t *bytes, size_t n, char *ret_text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		ret_text[2 * i] = digits[bytes[i] >> 4];
		ret_text[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret_text[2 * n] = '\0';
}

void store_name(const struct store *store, const char *tenant, const char *key,
	char ret_name[STORE_NAME_SIZE])
{
	const struct str parts[] = { str_from(tenant), str_from(key) };
	struct key name;

	key_derive(&store->secret, "name", parts, ARRAY_SIZE(parts), &name);
	hex_format(name.bytes, (STORE_NAME_SIZE - 1) / 2, ret_name);
}

void folder_object_name(
	const char *name, const struct manifest_entry *entry, char ret_file[FOLDER_NAME_SIZE])
{
	char object[2 * MANIFEST_OBJECT_SIZE + 1];

	hex_format(entry->object, MANIFEST_OBJECT_SIZE, object);
	(void)str_format(ret_file, FOLDER_NAME_SIZE, "%s.%s", name, object);
}

struct sealed_name folder_manifest_key(const struct store *store, const char *name)
{
	return (struct sealed_name){ .root = &store->secret,
		.label = "manifest",
		.parts = { str_from(name) },
		.n_parts = 1 };
}

struct sealed_name folder_object_key(
	const struct store *store, const char *name, const struct manifest_entry *entry)
{
	return (struct sealed_name){ .root = &store->secret,
		.label = "object",
		.parts = { str_from(name), str_from(entry->path),
			{ .p = (const char *)entry->object, .n = MANIFEST_OBJECT_SIZE } },
		.n_parts = 3 };
}

static struct sealed_name own_key(const struct store *store, const char *label)
{
	return (struct sealed_name){ .root = &store->secret, .label = label };
}

int folder_unlink(struct store *store, const char *file)
{
	struct stat st;

	if (fstatat(store->dir_fd, file, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		unlinkat(store->dir_fd, file, 0) < 0)
		return errno == ENOENT ? 0 : -errno;
	(void)atomic_fetch_sub(&store->budget.used, (uint64_t)st.st_size);
	return 0;
}

int folder_sync(struct store *store, int fd)
{
	(void)atomic_fetch_add(&store->syncs, 1);
	return fsync(fd) < 0 ? -errno : 0;
}

static int file_fill(struct store *store, int fd, const struct sealed_name *key, struct str bytes)
{
	struct sealed_writer writer;
	int r = sealed_writer_begin(&writer, fd, key, &store->budget, true);

	if (r == 0)
		r = sealed_writer_add(&writer, bytes.p, bytes.n);
	if (r == 0)
		r = sealed_writer_end(&writer);
	sealed_writer_fini(&writer);
	return r;
}

int folder_write(struct store *store, const char *file, const struct sealed_name *key,
	struct str bytes, bool is_durable)
{
	char temporary[FOLDER_NAME_SIZE];
	AUTO_CLOSE int fd = -1;
	struct stat old = { 0 };
	bool had_old = fstatat(store->dir_fd, file, &old, AT_SYMLINK_NOFOLLOW) == 0;
	int r;

	(void)str_format(temporary, sizeof(temporary), "%s.new", file);
	r = folder_unlink(store, temporary);
	if (r < 0)
		return r;
	fd = beneath_open(store->dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return fd;
	r = file_fill(store, fd, key, bytes);
	if (r == 0 && is_durable)
		r = folder_sync(store, fd);
	if (r == 0 && renameat(store->dir_fd, temporary, store->dir_fd, file) < 0)
		r = -errno;
	if (r < 0) {
		(void)folder_unlink(store, temporary);
		return r;
	}
	if (had_old)
		(void)atomic_fetch_sub(&store->budget.used, (uint64_t)old.st_size);
	return is_durable && folder_sync(store, store->dir_fd) < 0 ? -EINPROGRESS : 0;
}

int folder_read(
	struct store *store, const char *file, const struct sealed_name *key, struct buf *out)
{
	struct sealed_reader reader = { .fd = -1 };
	AUTO_CLOSE int fd = -1;
	const void *data = NULL;
	int n, r = beneath_open_regular(store->dir_fd, file, &fd);

	if (r < 0)
		return r == -ENOENT ? r : -EBADMSG;
	r = sealed_reader_begin(&reader, fd, key);
	while (r == 0 && (n = sealed_reader_peek(&reader, SEALED_PIECE, &data)) != 0)
		r = n < 0 ? n : buf_add(out, data, (size_t)n);
	sealed_reader_fini(&reader);
	return r == -ENOBUFS ? -EBADMSG : r;
}

/* The folder is ours when it opens the file that says so, or holds nothing yet. */
static int check_open(struct store *store)
{
	AUTO_BUF struct buf text = BUF_INIT(sizeof(check_text));
	struct sealed_name key = own_key(store, "check");
	int r = folder_read(store, "check", &key, &text);

	if (r == 0)
		return str_eq(buf_get_slice(&text), str_from(check_text)) ? 0 : -EKEYREJECTED;
	if (r == -EBADMSG)
		return -EKEYREJECTED;
	if (r != -ENOENT)
		return r;
	r = folder_is_unused(store);
	if (r < 0)
		return r;
	return folder_write(store, "check", &key, str_from(check_text), true);
}

/* The list is a help, not a need: without it only a whole session put back is not seen. */
static void generations_read(struct store *store)
{
	AUTO_BUF struct buf bytes = BUF_INIT(SMALL_MAX);
	struct sealed_name key = own_key(store, "generations");
	struct store_list *known = &store->generations;
	size_t size = sizeof(known->list[0]);

	if (folder_read(store, "generations", &key, &bytes) < 0 || bytes.len % size != 0)
		return;
	known->n = bytes.len / size;
	known->list = xcalloc(known->n, size);
	if (bytes.len > 0)
		memcpy(known->list, bytes.data, bytes.len);
}

void folder_generations_begin(struct store *store, struct store_list *list)
{
	(void)pthread_mutex_lock(&store->mutex);
	store->next = *list;
	(void)pthread_mutex_unlock(&store->mutex);
	*list = (struct store_list){ .n = 0 };
}

void folder_generations_end(struct store *store, bool is_written)
{
	(void)pthread_mutex_lock(&store->mutex);
	if (is_written) {
		free(store->generations.list);
		store->generations = store->next;
	} else {
		free(store->next.list);
	}
	store->next = (struct store_list){ .n = 0 };
	(void)pthread_mutex_unlock(&store->mutex);
}

int store_generations_write(struct store *store, const struct manifest_head *heads, size_t n)
{
	AUTO_BUF struct buf bytes = BUF_INIT(SMALL_MAX);
	struct sealed_name key = own_key(store, "generations");
	struct store_list next = { .n = n };
	int r;

	next.list = xcalloc(n, sizeof(next.list[0]));
	for (size_t i = 0; i < n; i++) {
		next.list[i].generation = heads[i].generation;
		store_name(store, heads[i].tenant, heads[i].key, next.list[i].name);
	}
	r = buf_add(&bytes, next.list, n * sizeof(next.list[0]));
	(void)pthread_mutex_lock(&store->writing);
	folder_generations_begin(store, &next);
	if (r == 0)
		r = folder_write(store, "generations", &key, buf_get_slice(&bytes), false);
	folder_generations_end(store, r == 0);
	(void)pthread_mutex_unlock(&store->writing);
	return r;
}

static uint64_t least_of(const struct store_list *known, const char *name)
{
	for (size_t i = 0; i < known->n; i++)
		if (strcmp(known->list[i].name, name) == 0)
			return known->list[i].generation;
	return 0;
}

uint64_t folder_least_generation(struct store *store, const char *name)
{
	uint64_t least;

	(void)pthread_mutex_lock(&store->mutex);
	least = MAX(least_of(&store->generations, name), least_of(&store->next, name));
	(void)pthread_mutex_unlock(&store->mutex);
	return least;
}

static void hash_key_derive(struct store *store)
{
	struct key key;

	static_assert(EXTENT_KEY_SIZE <= KEY_SIZE, "a part of it");
	key_derive(&store->secret, "hashes", NULL, 0, &key);
	memcpy(store->hash_key.bytes, key.bytes, EXTENT_KEY_SIZE);
	key_wipe(&key);
}

const struct extent_key *store_hash_key(const struct store *store)
{
	return &store->hash_key;
}

int store_open(int dir_fd, const struct key *secret, uint64_t max_bytes, struct store **ret_store)
{
	struct store *store = xcalloc(1, sizeof(*store));
	int r;

	store->dir_fd = dir_fd;
	store->secret = *secret;
	hash_key_derive(store);
	store->budget.max = max_bytes;
	(void)pthread_mutex_init(&store->writing, NULL);
	(void)pthread_mutex_init(&store->mutex, NULL);
	r = check_open(store);
	if (r < 0) {
		store_free(store);
		return r;
	}
	generations_read(store);
	*ret_store = store;
	return 0;
}

void store_free(struct store *store)
{
	if (!store)
		return;
	(void)fd_close(store->dir_fd);
	key_wipe(&store->secret);
	explicit_bzero(&store->hash_key, sizeof(store->hash_key));
	(void)pthread_mutex_destroy(&store->writing);
	(void)pthread_mutex_destroy(&store->mutex);
	free(store->generations.list);
	free(store);
}

static void manifest_file(const char *name, char ret_file[FOLDER_NAME_SIZE])
{
	(void)str_format(ret_file, FOLDER_NAME_SIZE, "%s.manifest", name);
}

int store_load(struct store *store, const char *name, uint64_t least_generation,
	struct manifest *ret_manifest)
{
	AUTO_BUF struct buf bytes = BUF_INIT(MANIFEST_SIZE_MAX);
	struct sealed_name key = folder_manifest_key(store, name);
	char file[FOLDER_NAME_SIZE], own[STORE_NAME_SIZE];
	struct manifest manifest;
	int r;

	manifest_file(name, file);
	r = folder_read(store, file, &key, &bytes);
	if (r == 0)
		r = manifest_parse(bytes.data, bytes.len, &manifest);
	if (r < 0)
		return r;
	store_name(store, manifest.head.tenant, manifest.head.key, own);
	if (manifest.head.generation < least_generation || strcmp(own, name) != 0) {
		manifest_fini(&manifest);
		return -EBADMSG;
	}
	*ret_manifest = manifest;
	return 0;
}

static int object_sync(struct store *store, const char *name, const struct manifest_entry *entry)
{
	char file[FOLDER_NAME_SIZE];
	AUTO_CLOSE int fd = -1;

	folder_object_name(name, entry, file);
	fd = beneath_open(store->dir_fd, file, O_RDONLY, 0);
	return fd < 0 ? fd : folder_sync(store, fd);
}

/* All new objects on the disk. */
static int objects_sync(struct store *store, const char *name, const struct manifest *manifest)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < manifest->n; i++)
		n += manifest->entries[i].is_new;
	if (n > SYNC_EACH_MAX) {
		(void)atomic_fetch_add(&store->syncs, 1);
		return syncfs(store->dir_fd) < 0 ? -errno : 0;
	}
	for (size_t i = 0; r == 0 && i < manifest->n; i++)
		if (manifest->entries[i].is_new)
			r = object_sync(store, name, &manifest->entries[i]);
	return r;
}

static int object_compare(const void *a, const void *b)
{
	return memcmp(a, b, MANIFEST_OBJECT_SIZE);
}

/* Removes what old has and manifest has not. */
static void objects_drop(struct store *store, const char *name, const struct manifest *manifest,
	const struct manifest *old)
{
	AUTO_FREE uint8_t *kept = xmalloc(manifest->n * MANIFEST_OBJECT_SIZE + 1);
	char file[FOLDER_NAME_SIZE];
	size_t n = 0;

	for (size_t i = 0; i < manifest->n; i++)
		if (manifest->entries[i].kind == MANIFEST_FILE)
			memcpy(kept + MANIFEST_OBJECT_SIZE * n++, manifest->entries[i].object,
				MANIFEST_OBJECT_SIZE);
	qsort(kept, n, MANIFEST_OBJECT_SIZE, object_compare);
	for (size_t i = 0; i < old->n; i++) {
		const struct manifest_entry *entry = &old->entries[i];

		if (entry->kind != MANIFEST_FILE ||
			bsearch(entry->object, kept, n, MANIFEST_OBJECT_SIZE, object_compare))
			continue;
		folder_object_name(name, entry, file);
		(void)folder_unlink(store, file);
	}
}

int store_commit(struct store *store, struct manifest *manifest, const struct manifest *old)
{
	AUTO_BUF struct buf bytes = BUF_INIT(MANIFEST_SIZE_MAX + 8192);
	char name[STORE_NAME_SIZE], file[FOLDER_NAME_SIZE];
	uint64_t before = manifest->head.generation;
	struct sealed_name key;
	int r;

	store_name(store, manifest->head.tenant, manifest->head.key, name);
	manifest_file(name, file);
	key = folder_manifest_key(store, name);
	/* A session that was removed and came anew is newer than what the list knows of it. */
	manifest->head.generation = MAX(before, folder_least_generation(store, name)) + 1;
	r = manifest_format(manifest, &bytes);
	if (r == 0)
		r = objects_sync(store, name, manifest);
	if (r == 0)
		r = folder_write(store, file, &key, buf_get_slice(&bytes), true);
	if (r < 0 && r != -EINPROGRESS) {
		manifest->head.generation = before;
		return r;
	}
	for (size_t i = 0; i < manifest->n; i++)
		manifest->entries[i].is_new = false;
	if (r == 0 && old)
		objects_drop(store, name, manifest, old);
	return r;
}

void store_discard(struct store *store, const struct manifest *manifest)
{
	char name[STORE_NAME_SIZE], file[FOLDER_NAME_SIZE];

	store_name(store, manifest->head.tenant, manifest->head.key, name);
	for (size_t i = 0; i < manifest->n; i++)
		if (manifest->entries[i].is_new) {
			folder_object_name(name, &manifest->entries[i], file);
			(void)folder_unlink(store, file);
		}
}

void store_touch(struct store *store, const char *name)
{
	char file[FOLDER_NAME_SIZE];

	manifest_file(name, file);
	(void)utimensat(store->dir_fd, file, NULL, AT_SYMLINK_NOFOLLOW);
}

uint64_t store_used_bytes(struct store *store)
{
	return atomic_load(&store->budget.used);
}

uint64_t store_syncs(struct store *store)
{
	return atomic_load(&store->syncs);
}
