#include "store/store.h"

#include "base/alloc.h"
#include "base/fd.h"
#include "base/macro.h"
#include "base/unit.h"
#include "store/folder.h"
#include "store/object.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct key secret = { .bytes = { 7 } };
static char folder[64];

static int folder_open(void)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static struct store *open_store(uint64_t max_bytes)
{
	struct store *store = NULL;

	assert_int_equal(store_open(folder_open(), &secret, max_bytes, &store), 0);
	return store;
}

static int set_up(void **state)
{
	(void)str_copy(folder, sizeof(folder), "/tmp/store-test-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

/* Calls on each file of the folder; returns how many there are. */
static unsigned each_file(void (*call)(const char *path))
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	unsigned n = 0;

	while ((entry = readdir(dir))) {
		char path[400];

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		n++;
		if (call)
			call(path);
	}
	(void)closedir(dir);
	return n;
}

static void file_unlink(const char *path)
{
	assert_int_equal(unlink(path), 0);
}

static int tear_down(void **state)
{
	(void)each_file(file_unlink);
	return rmdir(folder);
}

static int bytes_make(const void *bytes, size_t size)
{
	int fd = memfd_create("bytes", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_full(fd, bytes, size), 0);
	return fd;
}

/* Stores text as a file of the session and commits. */
static int store_file(
	struct store *store, struct manifest *manifest, const char *path, const char *text)
{
	struct manifest_entry entry = { .path = xstrdup(path), .mode = 0600 };
	AUTO_CLOSE int fd = bytes_make(text, strlen(text));
	char name[STORE_NAME_SIZE];
	int r;

	store_name(store, manifest->head.tenant, manifest->head.key, name);
	r = object_write(store, name, fd, &entry);
	if (r < 0) {
		free(entry.path);
		return r;
	}
	manifest_put(manifest, &entry);
	return store_commit(store, manifest, NULL);
}

static void session_make(struct manifest *manifest, const char *tenant, const char *key)
{
	*manifest = (struct manifest)MANIFEST_INIT;
	(void)str_copy(manifest->head.tenant, sizeof(manifest->head.tenant), tenant);
	(void)str_copy(manifest->head.key, sizeof(manifest->head.key), key);
	(void)str_copy(manifest->head.profile, sizeof(manifest->head.profile), "strict");
}

/* The content of a stored file into text. Returns 0 or what store_load or object_read said. */
static int load_file(struct store *store, const char *key, const char *path, char text[64])
{
	AUTO_CLOSE int fd = bytes_make("", 0);
	char name[STORE_NAME_SIZE];
	struct manifest manifest;
	int r;

	store_name(store, "t", key, name);
	r = store_load(store, name, 0, &manifest);
	if (r < 0)
		return r;
	r = object_read(store, name, manifest_find(&manifest, str_from(path)), fd);
	memset(text, 0, 64);
	assert_true(pread(fd, text, 63, 0) >= 0);
	manifest_fini(&manifest);
	return r;
}

static void test_round_trip(void **state)
{
	struct store *store = open_store(1u << 20);
	struct manifest manifest;
	char text[64];

	session_make(&manifest, "t", "k");
	assert_int_equal(store_file(store, &manifest, "secret name", "secret content"), 0);
	assert_int_equal(store_syncs(store), 2 + 3); /* two for the store itself */
	assert_int_equal(load_file(store, "k", "secret name", text), 0);
	assert_string_equal(text, "secret content");
	assert_int_equal(load_file(store, "other", "secret name", text), -ENOENT);
	manifest_fini(&manifest);
	store_free(store);
}

static uint64_t file_size;

static void clear_text_refuse(const char *path)
{
	static char bytes[70000];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, bytes, sizeof(bytes));

	assert_true(n > 0);
	assert_null(memmem(bytes, (size_t)n, "secret", 6));
	assert_null(memmem(path, strlen(path), "secret", 6));
	file_size += (uint64_t)n;
	(void)close(fd);
}

static void test_nothing_is_in_clear(void **state)
{
	struct store *store = open_store(1u << 20);
	struct manifest manifest;

	session_make(&manifest, "secret tenant", "secret-key");
	assert_int_equal(store_file(store, &manifest, "secret name", "secret content"), 0);
	file_size = 0;
	assert_int_equal(each_file(clear_text_refuse), 3);
	assert_int_equal(store_used_bytes(store), file_size);
	manifest_fini(&manifest);
	store_free(store);
}

static void test_holes(void **state)
{
	struct manifest_entry entry = { .path = (char[]){ "f" } };
	struct store *store = open_store(1u << 20);
	AUTO_CLOSE int from = bytes_make("begin", 5);
	AUTO_CLOSE int to = bytes_make("", 0);
	char name[STORE_NAME_SIZE], text[8];
	struct stat st;

	assert_int_equal(pwrite(from, "end", 3, 1 << 28), 3);
	assert_int_equal(ftruncate(from, 1 << 29), 0);
	store_name(store, "t", "k", name);
	assert_int_equal(object_write(store, name, from, &entry), 0);
	assert_true(entry.stored_bytes < 20000);
	assert_int_equal(object_read(store, name, &entry, to), 0);
	assert_int_equal(fstat(to, &st), 0);
	assert_int_equal(st.st_size, 1 << 29);
	assert_true(st.st_blocks < 100);
	assert_int_equal(pread(to, text, 3, 1 << 28), 3);
	assert_memory_equal(text, "end", 3);
	store_free(store);
}

static void test_large_file(void **state)
{
	const size_t size = 1000 * 1000;
	AUTO_FREE char *bytes = xmalloc(size), *again = xmalloc(size);
	struct manifest_entry entry = { .path = (char[]){ "f" } };
	struct store *store = open_store(1u << 21);
	AUTO_CLOSE int from = -1;
	AUTO_CLOSE int to = bytes_make("", 0);
	char name[STORE_NAME_SIZE];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i * 31 + i / 1000);
	from = bytes_make(bytes, size);
	store_name(store, "t", "k", name);
	assert_int_equal(object_write(store, name, from, &entry), 0);
	assert_int_equal(object_read(store, name, &entry, to), 0);
	assert_int_equal(pread(to, again, size, 0), size);
	assert_memory_equal(bytes, again, size);
	store_free(store);
}

static void test_budget(void **state)
{
	struct store *store = open_store(500);
	AUTO_FREE char *large = xmalloc(1001);
	struct manifest manifest;
	uint64_t before;

	memset(large, 'x', 1000);
	large[1000] = '\0';
	session_make(&manifest, "t", "k");
	before = store_used_bytes(store);
	assert_int_equal(store_file(store, &manifest, "f", large), -EDQUOT);
	assert_int_equal(store_used_bytes(store), before);
	assert_int_equal(each_file(NULL), 1);
	/* What takes no room still works: deletions above all. */
	assert_int_equal(store_commit(store, &manifest, NULL), 0);
	manifest_fini(&manifest);
	store_free(store);
}

static void test_another_secret(void **state)
{
	const struct key other = { .bytes = { 8 } };
	struct store *store = open_store(1u << 20);
	struct manifest manifest;
	char path[128];

	session_make(&manifest, "t", "k");
	assert_int_equal(store_file(store, &manifest, "f", "text"), 0);
	manifest_fini(&manifest);
	store_free(store);
	assert_int_equal(store_open(folder_open(), &other, 1u << 20, &store), -EKEYREJECTED);
	(void)snprintf(path, sizeof(path), "%s/check", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(store_open(folder_open(), &other, 1u << 20, &store), -EKEYREJECTED);
}

/* What a scan told. */
struct found {
	unsigned sessions, broken;
	struct manifest_head head;
};

static void on_session(void *context, const char *name, const struct manifest_head *head, int error)
{
	struct found *found = context;

	found->sessions++;
	found->broken += error != 0;
	if (head)
		found->head = *head;
}

static void stray_make(const char *file)
{
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	(void)close(fd);
}

static void test_scan_sweeps(void **state)
{
	struct store *store = open_store(1u << 20);
	struct found found = { 0 };
	struct manifest manifest;
	char name[STORE_NAME_SIZE], stray[FOLDER_NAME_SIZE], text[64];
	uint64_t used;

	session_make(&manifest, "t", "k");
	assert_int_equal(store_file(store, &manifest, "f", "text"), 0);
	used = store_used_bytes(store);
	store_name(store, "t", "k", name);
	(void)snprintf(stray, sizeof(stray), "%s.0123456789abcdef0123456789abcdef", name);
	stray_make(stray);
	(void)snprintf(stray, sizeof(stray), "%s.manifest.new", name);
	stray_make(stray);
	store_name(store, "t", "never answered", name);
	(void)snprintf(stray, sizeof(stray), "%s.0123456789abcdef0123456789abcdef", name);
	stray_make(stray);
	stray_make("notes of a person");
	store_free(store);
	store = open_store(1u << 20);
	assert_int_equal(store_scan(store, on_session, &found), 0);
	assert_int_equal(found.sessions, 1);
	assert_int_equal(found.broken, 0);
	assert_string_equal(found.head.key, "k");
	assert_int_equal(each_file(NULL), 4); /* check, manifest, object, notes */
	assert_true(store_used_bytes(store) <= used);
	assert_int_equal(load_file(store, "k", "f", text), 0);
	manifest_fini(&manifest);
	store_free(store);
}

static void test_replacing_and_removing(void **state)
{
	struct store *store = open_store(1u << 20);
	struct manifest manifest, old;
	char name[STORE_NAME_SIZE], text[64];

	session_make(&manifest, "t", "k");
	assert_int_equal(store_file(store, &manifest, "f", "one"), 0);
	store_name(store, "t", "k", name);
	assert_int_equal(store_load(store, name, 0, &old), 0);
	assert_int_equal(store_file(store, &manifest, "f", "two"), 0);
	assert_int_equal(store_commit(store, &manifest, &old), 0);
	assert_int_equal(each_file(NULL), 3);
	assert_int_equal(load_file(store, "k", "f", text), 0);
	assert_string_equal(text, "two");
	assert_int_equal(store_remove(store, name), 0);
	assert_int_equal(each_file(NULL), 1);
	assert_int_equal(store_remove(store, name), -ENOENT);
	manifest_fini(&manifest);
	manifest_fini(&old);
	store_free(store);
}

static char victim[400];
static size_t victim_at;

static void byte_flip(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char c;

	assert_int_equal(pread(fd, &c, 1, (off_t)victim_at), 1);
	c = (char)(c ^ 1);
	assert_int_equal(pwrite(fd, &c, 1, (off_t)victim_at), 1);
	(void)close(fd);
}

static void object_choose(const char *path)
{
	if (!strstr(path, "manifest") && !strstr(path, "check"))
		(void)str_copy(victim, sizeof(victim), path);
}

static void manifest_choose(const char *path)
{
	if (strstr(path, "manifest"))
		(void)str_copy(victim, sizeof(victim), path);
}

/* Every byte of the chosen file, flipped or as the last one left, gives -EBADMSG. */
static void every_byte_counts(struct store *store)
{
	char text[64];
	struct stat st;

	assert_int_equal(stat(victim, &st), 0);
	for (victim_at = 0; victim_at < (size_t)st.st_size; victim_at++) {
		byte_flip(victim);
		assert_int_equal(load_file(store, "k", "f", text), -EBADMSG);
		byte_flip(victim);
	}
	assert_int_equal(load_file(store, "k", "f", text), 0);
	for (off_t size = st.st_size - 1; size >= 0; size--) {
		assert_int_equal(truncate(victim, size), 0);
		assert_int_equal(load_file(store, "k", "f", text), -EBADMSG);
	}
}

static void test_flipped_and_cut_objects(void **state)
{
	struct store *store = open_store(1u << 20);
	struct manifest manifest;

	session_make(&manifest, "t", "k");
	assert_int_equal(store_file(store, &manifest, "f", "some bytes"), 0);
	(void)each_file(object_choose);
	every_byte_counts(store);
	manifest_fini(&manifest);
	store_free(store);
}

static void test_flipped_and_cut_manifests(void **state)
{
	struct store *store = open_store(1u << 20);
	struct manifest manifest;

	session_make(&manifest, "t", "k");
	assert_int_equal(store_file(store, &manifest, "f", "some bytes"), 0);
	(void)each_file(manifest_choose);
	every_byte_counts(store);
	manifest_fini(&manifest);
	store_free(store);
}

static void file_rename(const char *name, const char *suffix, const char *to_name)
{
	char from[200], to[200];

	(void)snprintf(from, sizeof(from), "%s/%s.%s", folder, name, suffix);
	(void)snprintf(to, sizeof(to), "%s/%s.%s", folder, to_name, suffix);
	assert_int_equal(rename(from, to), 0);
}

/* A session's files under another session's names, a manifest that was put back, an object of the
 * same file's earlier life. */
static void test_swapped_and_put_back(void **state)
{
	struct store *store = open_store(1u << 20);
	struct manifest a, b, loaded;
	char name_a[STORE_NAME_SIZE], name_b[STORE_NAME_SIZE], text[64];
	char old_object[FOLDER_NAME_SIZE], object[FOLDER_NAME_SIZE];

	session_make(&a, "t", "a");
	session_make(&b, "t", "b");
	assert_int_equal(store_file(store, &a, "f", "of a"), 0);
	assert_int_equal(store_file(store, &b, "f", "of b"), 0);
	store_name(store, "t", "a", name_a);
	store_name(store, "t", "b", name_b);
	/* the earlier object in the later one's place */
	folder_object_name(name_a, &a.entries[0], old_object);
	assert_int_equal(store_file(store, &a, "f", "of a, later"), 0);
	folder_object_name(name_a, &a.entries[0], object);
	assert_int_equal(renameat(store->dir_fd, old_object, store->dir_fd, object), 0);
	assert_int_equal(load_file(store, "a", "f", text), -EBADMSG);
	/* the other session's manifest */
	file_rename(name_b, "manifest", name_a);
	assert_int_equal(load_file(store, "a", "f", text), -EBADMSG);
	file_rename(name_a, "manifest", name_b);
	assert_int_equal(load_file(store, "b", "f", text), 0);
	/* older than it must be */
	assert_int_equal(store_load(store, name_b, b.head.generation, &loaded), 0);
	manifest_fini(&loaded);
	assert_int_equal(store_load(store, name_b, b.head.generation + 1, &loaded), -EBADMSG);
	manifest_fini(&a);
	manifest_fini(&b);
	store_free(store);
}

/* The list of generations tells over a restart that a session was put back, and does not mistake a
 * new one of the same name for that. */
static void test_generations(void **state)
{
	struct store *store = open_store(1u << 20);
	struct found found = { 0 };
	struct manifest manifest;
	char name[STORE_NAME_SIZE];

	session_make(&manifest, "t", "k");
	for (int i = 0; i < 5; i++)
		assert_int_equal(store_file(store, &manifest, "f", "text"), 0);
	assert_int_equal(store_generations_write(store, &manifest.head, 1), 0);
	store_name(store, "t", "k", name);
	assert_int_equal(store_remove(store, name), 0);
	manifest_fini(&manifest);
	session_make(&manifest, "t", "k");
	assert_int_equal(store_file(store, &manifest, "f", "anew"), 0);
	assert_true(manifest.head.generation > 5);
	assert_int_equal(store_generations_write(store, &manifest.head, 1), 0);
	store_free(store);

	store = open_store(1u << 20);
	assert_int_equal(store_scan(store, on_session, &found), 0);
	assert_int_equal(found.broken, 0);
	/* now one that claims to be older than the list */
	manifest.head.generation += 7;
	assert_int_equal(store_generations_write(store, &manifest.head, 1), 0);
	store_free(store);
	store = open_store(1u << 20);
	assert_int_equal(store_scan(store, on_session, &found), 0);
	assert_int_equal(found.broken, 1);
	manifest_fini(&manifest);
	store_free(store);
}

/* One entry that says that the session has this generation at least. */
static struct store_list list_make(const struct store *store, uint64_t generation)
{
	struct store_list list = { .n = 1 };

	list.list = xcalloc(1, sizeof(list.list[0]));
	list.list[0].generation = generation;
	store_name(store, "t", "k", list.list[0].name);
	return list;
}

/* While the list is on its way to a slow disk others commit (the store's lock is free, or this
 * would not end), and keep above both lists: nobody knows yet which of them the next start finds.
 */
static void test_a_list_that_is_being_written_stops_no_commit(void **state)
{
	struct store *store = open_store(1u << 20);
	struct store_list list = list_make(store, 10);
	uint64_t used;
	struct manifest manifest;

	session_make(&manifest, "t", "k");
	(void)pthread_mutex_lock(&store->writing);
	folder_generations_begin(store, &list);
	assert_null(list.list);
	assert_int_equal(store_file(store, &manifest, "f", "text"), 0);
	assert_int_equal(manifest.head.generation, 11);
	used = store_used_bytes(store);
	folder_generations_end(store, true);
	list = list_make(store, 30);
	folder_generations_begin(store, &list);
	folder_generations_end(store, false); /* the disk has the one before */
	list = list_make(store, 1);
	folder_generations_begin(store, &list);
	manifest.head.generation = 0;
	assert_int_equal(store_file(store, &manifest, "g", "text"), 0);
	assert_int_equal(manifest.head.generation, 11);
	folder_generations_end(store, true);
	(void)pthread_mutex_unlock(&store->writing);
	assert_true(store_used_bytes(store) > used);
	file_size = 0;
	assert_int_equal(each_file(clear_text_refuse), 4);
	assert_int_equal(store_used_bytes(store), file_size);
	manifest_fini(&manifest);
	store_free(store);
}

/* An object is known by its number: what an earlier version, or another key, made of its bytes is
 * looked at by the next save alone, which takes the file for another one. */
static void test_objects_open_whatever_the_hash_is(void **state)
{
	struct store *store = open_store(1u << 20);
	struct manifest_entry *entry;
	struct manifest manifest;
	uint64_t hash[2];
	char text[64];

	session_make(&manifest, "t", "k");
	assert_int_equal(store_file(store, &manifest, "f", "content"), 0);
	entry = manifest_find(&manifest, STR("f"));
	memcpy(hash, entry->hash, sizeof(hash));
	entry->hash[0] ^= 1;
	assert_int_equal(store_commit(store, &manifest, NULL), 0);
	assert_int_equal(load_file(store, "k", "f", text), 0);
	assert_string_equal(text, "content");
	/* and over a restart a hash is the same */
	store_free(store);
	store = open_store(1u << 20);
	assert_int_equal(store_file(store, &manifest, "f", "content"), 0);
	assert_memory_equal(manifest_find(&manifest, STR("f"))->hash, hash, sizeof(hash));
	manifest_fini(&manifest);
	store_free(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),
		TEST(test_nothing_is_in_clear),
		TEST(test_holes),
		TEST(test_large_file),
		TEST(test_budget),
		TEST(test_another_secret),
		TEST(test_scan_sweeps),
		TEST(test_replacing_and_removing),
		TEST(test_flipped_and_cut_objects),
		TEST(test_flipped_and_cut_manifests),
		TEST(test_swapped_and_put_back),
		TEST(test_generations),
		TEST(test_a_list_that_is_being_written_stops_no_commit),
		TEST(test_objects_open_whatever_the_hash_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
