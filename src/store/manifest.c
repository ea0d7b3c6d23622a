/*
 * The bytes were authenticated before they come here, so a malformed manifest is our own mistake or
 * another version's; it is read with the same care all the same, since what follows from it are
 * names in a home.
 *
 * Numbers are stored as the machine has them: both that we build for are little-endian.
 */
#include "store/manifest.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/macro.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1

struct head_form {
	uint32_t version;
	uint32_t n_entries;
	uint64_t generation;
	int64_t created_ns;
	int64_t used_ns;
	uint64_t runs;
	uint64_t files;
	uint64_t objects;
	uint64_t files_bytes;
	uint64_t stored_bytes;
	char tenant[MANIFEST_TENANT_SIZE];
	char key[MANIFEST_KEY_SIZE];
	char profile[MANIFEST_PROFILE_SIZE];
	uint8_t is_live;
	uint8_t reserved[5];
};

struct entry_form {
	uint16_t path_size;
	uint16_t text_size;
	uint8_t kind;
	uint8_t reserved[3];
	int64_t mtime_ns;
	uint64_t size_bytes;
	uint64_t stored_bytes;
	uint64_t hash[2];
	uint8_t object[MANIFEST_OBJECT_SIZE];
	uint32_t mode;
	uint32_t padding;
};

static_assert(sizeof(struct head_form) == 304, "a form on disk");
static_assert(sizeof(struct entry_form) == 72, "a form on disk");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers on disk");

static void entry_fini(struct manifest_entry *entry)
{
	free(entry->path);
	free(entry->text);
}

void manifest_fini(struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->n; i++)
		entry_fini(&manifest->entries[i]);
	free(manifest->entries);
	*manifest = (struct manifest)MANIFEST_INIT;
}

size_t manifest_head_size(void)
{
	return sizeof(struct head_form);
}

bool manifest_path_is_valid(struct str path)
{
	struct str part;
	bool has_more = true;

	if (path.n == 0 || path.n > MANIFEST_PATH_MAX || memchr(path.p, '\0', path.n))
		return false;
	while (has_more) {
		has_more = str_split_once(path, '/', &part, &path);
		if (part.n == 0 || part.n > NAME_MAX || str_eq(part, STR(".")) ||
			str_eq(part, STR("..")))
			return false;
	}
	return true;
}

static int path_compare(struct str a, struct str b)
{
	int order = memcmp(a.p, b.p, MIN(a.n, b.n));

	return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

static bool is_text(const char *bytes, size_t size)
{
	return memchr(bytes, '\0', size) != NULL && bytes[0] != '\0';
}

int manifest_head_parse(const void *data, size_t size, struct manifest_head *ret_head)
{
	struct head_form form;

	if (size != sizeof(form))
		return -EBADMSG;
	memcpy(&form, data, sizeof(form));
	if (form.version != VERSION || form.n_entries > MANIFEST_ENTRIES_MAX ||
		form.generation == 0 || !is_text(form.tenant, sizeof(form.tenant)) ||
		!is_text(form.key, sizeof(form.key)) ||
		!is_text(form.profile, sizeof(form.profile)))
		return -EBADMSG;
	*ret_head = (struct manifest_head){ .generation = form.generation,
		.created_ns = form.created_ns,
		.used_ns = form.used_ns,
		.runs = form.runs,
		.is_live = form.is_live == 1,
		.files = form.files,
		.objects = form.objects,
		.files_bytes = form.files_bytes,
		.stored_bytes = form.stored_bytes };
	(void)str_copy(ret_head->tenant, sizeof(ret_head->tenant), form.tenant);
	(void)str_copy(ret_head->key, sizeof(ret_head->key), form.key);
	(void)str_copy(ret_head->profile, sizeof(ret_head->profile), form.profile);
	return 0;
}

/* What the kinds have and have not. */
static bool entry_is_valid(const struct entry_form *form, struct str path, struct str text)
{
	bool has_text = form->kind == MANIFEST_LINK || form->kind == MANIFEST_SAME;

	if (form->kind >= MANIFEST_KIND_MAX || form->mode > 0777 || !manifest_path_is_valid(path))
		return false;
	if (has_text != (text.n > 0) || (text.n > 0 && memchr(text.p, '\0', text.n)))
		return false;
	if (form->kind == MANIFEST_SAME && !manifest_path_is_valid(text))
		return false;
	return form->kind == MANIFEST_FILE || (form->size_bytes == 0 && form->stored_bytes == 0);
}

/* One entry at *at. Returns 0 or -EBADMSG. */
static int entry_parse(const char *data, size_t size, size_t *at, struct manifest_entry *ret_entry)
{
	struct entry_form form;
	struct str path, text;

	if (size - *at < sizeof(form))
		return -EBADMSG;
	memcpy(&form, data + *at, sizeof(form));
	*at += sizeof(form);
	if (size - *at < (size_t)form.path_size + form.text_size)
		return -EBADMSG;
	path = (struct str){ .p = data + *at, .n = form.path_size };
	text = (struct str){ .p = path.p + path.n, .n = form.text_size };
	*at += path.n + text.n;
	if (!entry_is_valid(&form, path, text))
		return -EBADMSG;
	*ret_entry = (struct manifest_entry){ .path = xasprintf("%.*s", STR_ARG(path)),
		.text = text.n > 0 ? xasprintf("%.*s", STR_ARG(text)) : NULL,
		.kind = (enum manifest_kind)form.kind,
		.mode = form.mode,
		.mtime_ns = form.mtime_ns,
		.size_bytes = form.size_bytes,
		.stored_bytes = form.stored_bytes,
		.hash = { form.hash[0], form.hash[1] } };
	memcpy(ret_entry->object, form.object, sizeof(form.object));
	return 0;
}

/* Sorted, and each further name is one of a file that is there. */
static bool is_in_order(const struct manifest *manifest)
{
	for (size_t i = 1; i < manifest->n; i++)
		if (path_compare(str_from(manifest->entries[i - 1].path),
			    str_from(manifest->entries[i].path)) >= 0)
			return false;
	for (size_t i = 0; i < manifest->n; i++) {
		const struct manifest_entry *first;

		if (manifest->entries[i].kind != MANIFEST_SAME)
			continue;
		first = manifest_find(manifest, str_from(manifest->entries[i].text));
		if (!first || first->kind != MANIFEST_FILE)
			return false;
	}
	return true;
}

int manifest_parse(const void *data, size_t size, struct manifest *ret_manifest)
{
	struct manifest manifest = MANIFEST_INIT;
	size_t at = sizeof(struct head_form);
	struct head_form form;
	int r;

	if (size < sizeof(form) || size > MANIFEST_SIZE_MAX)
		return -EBADMSG;
	r = manifest_head_parse(data, sizeof(form), &manifest.head);
	if (r < 0)
		return r;
	memcpy(&form, data, sizeof(form));
	for (uint32_t i = 0; r == 0 && i < form.n_entries; i++) {
		struct manifest_entry entry;

		r = entry_parse(data, size, &at, &entry);
		if (r == 0)
			manifest_append(&manifest, &entry);
	}
	if (r == 0 && (at != size || !is_in_order(&manifest)))
		r = -EBADMSG;
	if (r < 0)
		manifest_fini(&manifest);
	else
		*ret_manifest = manifest;
	return r;
}

static void head_count(struct manifest *manifest)
{
	struct manifest_head *head = &manifest->head;

	head->files = head->objects = head->files_bytes = head->stored_bytes = 0;
	for (size_t i = 0; i < manifest->n; i++) {
		const struct manifest_entry *entry = &manifest->entries[i];

		head->files += entry->kind == MANIFEST_FILE || entry->kind == MANIFEST_SAME;
		head->objects += entry->kind == MANIFEST_FILE;
		head->files_bytes += entry->size_bytes;
		head->stored_bytes += entry->stored_bytes;
	}
}

static int entry_format(const struct manifest_entry *entry, struct buf *out)
{
	struct str path = str_from(entry->path), text = str_from(entry->text);
	struct entry_form form = { .path_size = (uint16_t)path.n,
		.text_size = (uint16_t)text.n,
		.kind = (uint8_t)entry->kind,
		.mode = entry->mode,
		.mtime_ns = entry->mtime_ns,
		.size_bytes = entry->size_bytes,
		.stored_bytes = entry->stored_bytes,
		.hash = { entry->hash[0], entry->hash[1] } };
	int r;

	assert(path.n <= MANIFEST_PATH_MAX && text.n <= MANIFEST_PATH_MAX + 1);
	memcpy(form.object, entry->object, sizeof(form.object));
	r = buf_add(out, &form, sizeof(form));
	if (r == 0)
		r = buf_add_slice(out, path);
	return r < 0 ? r : buf_add_slice(out, text);
}

int manifest_format(struct manifest *manifest, struct buf *out)
{
	const struct manifest_head *head = &manifest->head;
	struct head_form form = { .version = VERSION, .n_entries = (uint32_t)manifest->n };
	int r;

	if (manifest->n > MANIFEST_ENTRIES_MAX)
		return -E2BIG;
	head_count(manifest);
	form.generation = head->generation;
	form.created_ns = head->created_ns;
	form.used_ns = head->used_ns;
	form.runs = head->runs;
	form.is_live = head->is_live;
	form.files = head->files;
	form.objects = head->objects;
	form.files_bytes = head->files_bytes;
	form.stored_bytes = head->stored_bytes;
	(void)str_copy(form.tenant, sizeof(form.tenant), head->tenant);
	(void)str_copy(form.key, sizeof(form.key), head->key);
	(void)str_copy(form.profile, sizeof(form.profile), head->profile);
	r = buf_add(out, &form, sizeof(form));
	for (size_t i = 0; r == 0 && i < manifest->n; i++)
		r = entry_format(&manifest->entries[i], out);
	return r < 0 || out->len > MANIFEST_SIZE_MAX ? -E2BIG : 0;
}

/* Index of the first entry that is not before path. */
static size_t place_of(const struct manifest *manifest, struct str path)
{
	size_t low = 0, high = manifest->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (path_compare(str_from(manifest->entries[middle].path), path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct manifest_entry *manifest_find(const struct manifest *manifest, struct str path)
{
	size_t i = place_of(manifest, path);

	return i < manifest->n && str_eq(str_from(manifest->entries[i].path), path)
		       ? &manifest->entries[i]
		       : NULL;
}

static void grow(struct manifest *manifest)
{
	if (manifest->n < manifest->cap)
		return;
	manifest->cap = manifest->cap ? manifest->cap * 2 : 16;
	manifest->entries =
		xrealloc(manifest->entries, manifest->cap * sizeof(manifest->entries[0]));
}

void manifest_append(struct manifest *manifest, const struct manifest_entry *entry)
{
	grow(manifest);
	manifest->entries[manifest->n++] = *entry;
}

void manifest_put(struct manifest *manifest, const struct manifest_entry *entry)
{
	struct manifest_entry *old = manifest_find(manifest, str_from(entry->path));
	size_t i;

	if (old) {
		entry_fini(old);
		*old = *entry;
		return;
	}
	i = place_of(manifest, str_from(entry->path));
	grow(manifest);
	memmove(manifest->entries + i + 1, manifest->entries + i,
		(manifest->n - i) * sizeof(manifest->entries[0]));
	manifest->entries[i] = *entry;
	manifest->n++;
}

void manifest_remove(struct manifest *manifest, size_t i)
{
	assert(i < manifest->n);
	entry_fini(&manifest->entries[i]);
	manifest->n--;
	memmove(manifest->entries + i, manifest->entries + i + 1,
		(manifest->n - i) * sizeof(manifest->entries[0]));
}

struct manifest_entry manifest_entry_copy(const struct manifest_entry *entry)
{
	struct manifest_entry copy = *entry;

	copy.path = xstrdup(entry->path);
	copy.text = entry->text ? xstrdup(entry->text) : NULL;
	return copy;
}
