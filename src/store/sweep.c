/*
 * Theory of operation: one reading of the folder gives all names, sorted: so a session's manifest
 * and objects stand together. Which objects are its own only the manifest knows, and it is read
 * whole only where the number of files is not what its head says.
 */
#include "store/store.h"

#include "base/alloc.h"
#include "base/beneath.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "store/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define NAME_LEN (STORE_NAME_SIZE - 1)

/* The names in the folder. */
struct names {
	char (*list)[FOLDER_NAME_SIZE];
	size_t n, cap;
};

static bool is_digits(const char *text, size_t n)
{
	return strspn(text, "0123456789abcdef") >= n;
}

/* "SSSS.": whose it is. */
static bool is_of_session(const char *file)
{
	return is_digits(file, NAME_LEN) && strlen(file) > NAME_LEN && file[NAME_LEN] == '.';
}

static bool is_object(const char *file)
{
	return is_of_session(file) && strlen(file) == 2 * NAME_LEN + 1 &&
	       is_digits(file + NAME_LEN + 1, NAME_LEN);
}

static bool is_manifest(const char *file)
{
	return is_of_session(file) && strcmp(file + NAME_LEN, ".manifest") == 0;
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Names that are too long for ours are not ours, and left alone. */
static int names_read(const struct store *store, struct names *ret_names)
{
	int fd = beneath_open(store->dir_fd, ".", O_RDONLY | O_DIRECTORY, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct names names = { .n = 0 };

	if (!dir) {
		int r = fd < 0 ? fd : -errno;

		(void)fd_close(fd);
		return r;
	}
	while ((entry = readdir(dir))) {
		if (names.n == names.cap) {
			names.cap = names.cap ? names.cap * 2 : 64;
			names.list = xrealloc(names.list, names.cap * sizeof(names.list[0]));
		}
		if (str_copy(names.list[names.n], FOLDER_NAME_SIZE, entry->d_name) == 0)
			names.n++;
	}
	(void)closedir(dir);
	if (names.n > 0)
		qsort(names.list, names.n, sizeof(names.list[0]), name_compare);
	*ret_names = names;
	return 0;
}

int folder_is_unused(const struct store *store)
{
	struct names names;
	int r = names_read(store, &names);

	for (size_t i = 0; r == 0 && i < names.n; i++)
		if (is_of_session(names.list[i]))
			r = -EKEYREJECTED;
	if (r == 0 || r == -EKEYREJECTED)
		free(names.list);
	return r;
}

static void count(struct store *store, const char *file)
{
	struct stat st;

	if (fstatat(store->dir_fd, file, &st, AT_SYMLINK_NOFOLLOW) == 0)
		(void)atomic_fetch_add(&store->budget.used, (uint64_t)st.st_size);
}

/* The head alone, and when it was last used. */
static int head_read(struct store *store, const char *name, struct manifest_head *ret_head)
{
	struct sealed_name key = folder_manifest_key(store, name);
	char file[FOLDER_NAME_SIZE], own[STORE_NAME_SIZE], bytes[512];
	struct sealed_reader reader = { .fd = -1 };
	AUTO_CLOSE int fd = -1;
	struct stat st;
	int r;

	(void)str_format(file, sizeof(file), "%s.manifest", name);
	r = beneath_open_regular(store->dir_fd, file, &fd);
	if (r == 0)
		r = sealed_reader_begin(&reader, fd, &key);
	if (r == 0)
		r = sealed_reader_get(&reader, bytes, manifest_head_size());
	sealed_reader_fini(&reader);
	if (r == 0)
		r = manifest_head_parse(bytes, manifest_head_size(), ret_head);
	if (r < 0)
		return -EBADMSG;
	store_name(store, ret_head->tenant, ret_head->key, own);
	if (strcmp(own, name) != 0 || ret_head->generation < folder_least_generation(store, name))
		return -EBADMSG;
	if (fstat(fd, &st) == 0)
		ret_head->used_ns = MAX(ret_head->used_ns,
			st.st_mtim.tv_sec * (int64_t)1000000000 + st.st_mtim.tv_nsec);
	return 0;
}

/* The names of all objects of a manifest, sorted. The caller frees. */
static char (*objects_list(
	const struct manifest *manifest, const char *name, size_t *ret_n))[FOLDER_NAME_SIZE]
{
	char(*list)[FOLDER_NAME_SIZE] = xcalloc(manifest->n, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; i < manifest->n; i++)
		if (manifest->entries[i].kind == MANIFEST_FILE)
			folder_object_name(name, &manifest->entries[i], list[n++]);
	qsort(list, n, sizeof(*list), name_compare);
	*ret_n = n;
	return list;
}

/* Removes the objects of a session that its manifest does not name. Nothing of one that cannot be
 * read: it may be put right by hand. */
static void objects_sweep(
	struct store *store, const char *name, const struct names *names, size_t from, size_t to)
{
	struct manifest manifest = MANIFEST_INIT;
	char(*list)[FOLDER_NAME_SIZE];
	size_t n = 0, swept = 0;

	if (store_load(store, name, 0, &manifest) < 0)
		return;
	list = objects_list(&manifest, name, &n);
	for (size_t i = from; i < to; i++)
		if (is_object(names->list[i]) &&
			!bsearch(names->list[i], list, n, sizeof(*list), name_compare)) {
			(void)folder_unlink(store, names->list[i]);
			swept++;
		}
	free(list);
	manifest_fini(&manifest);
	if (swept > 0)
		log_info("msg=\"swept what no answer promised\" files=%zu", swept);
}

/* One session: the names from `from` up to `to`. */
static void session_scan(struct store *store, const struct names *names, size_t from, size_t to,
	struct store_scan_target target)
{
	char name[STORE_NAME_SIZE];
	struct manifest_head head;
	bool has_manifest = false;
	uint64_t objects = 0;
	int r;

	(void)str_format(name, sizeof(name), "%.*s", (int)NAME_LEN, names->list[from]);
	for (size_t i = from; i < to; i++) {
		has_manifest |= is_manifest(names->list[i]);
		objects += is_object(names->list[i]);
	}
	for (size_t i = from; i < to; i++) {
		count(store, names->list[i]);
		if (!has_manifest || !(is_manifest(names->list[i]) || is_object(names->list[i])))
			(void)folder_unlink(store, names->list[i]);
	}
	if (!has_manifest)
		return;
	r = head_read(store, name, &head);
	if (r == 0 && objects != head.objects)
		objects_sweep(store, name, names, from, to);
	target.on_session(target.context, name, r == 0 ? &head : NULL, r);
}

int store_scan(struct store *store, store_on_session *on_session, void *context)
{
	struct names names;
	size_t to;
	int r = names_read(store, &names);

	if (r < 0)
		return r;
	for (size_t from = 0; from < names.n; from = to) {
		to = from + 1;
		if (!is_of_session(names.list[from]))
			continue;
		while (to < names.n && is_of_session(names.list[to]) &&
			strncmp(names.list[to], names.list[from], NAME_LEN) == 0)
			to++;
		session_scan(
			store, &names, from, to, (struct store_scan_target){ on_session, context });
	}
	free(names.list);
	return 0;
}

/* The manifest first: without it the objects are nobody's, and the next start sweeps them. */
int store_remove(struct store *store, const char *name)
{
	char file[FOLDER_NAME_SIZE];
	struct names names;
	struct stat st;
	int r;

	(void)str_format(file, sizeof(file), "%s.manifest", name);
	if (fstatat(store->dir_fd, file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	r = folder_unlink(store, file);
	if (r == 0)
		r = folder_sync(store, store->dir_fd);
	if (r == 0)
		r = names_read(store, &names);
	if (r < 0)
		return r;
	for (size_t i = 0; i < names.n; i++)
		if (is_of_session(names.list[i]) && strncmp(names.list[i], name, NAME_LEN) == 0)
			(void)folder_unlink(store, names.list[i]);
	free(names.list);
	return 0;
}
