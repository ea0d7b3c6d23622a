/*
 * Theory of operation: struct json is json_t under another name, never defined, so that jansson's
 * header stays in this folder. A child handed out is borrowed: its parent holds the one reference.
 *
 * jansson refuses text that is not UTF-8, and its answer would be a lost member. So text is
 * repaired here, once, at the edge: the fast path finds it valid and copies nothing. Out of memory
 * aborts as everywhere, which is why building cannot fail: jansson returns NULL for nothing else
 * here.
 */
#include "json/json.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/macro.h"
#include "base/utf8.h"
#include "json/tree.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Of its own, jansson tells a lack of memory while it parses as text that is malformed, for which
 * the client would be blamed. */
__attribute__((constructor)) static void memory_give(void)
{
	json_set_alloc_funcs(xmalloc, free);
}

json_t *tree_from(const struct json *j)
{
	return (json_t *)(uintptr_t)j;
}

struct json *tree_to(json_t *tree)
{
	/* jansson returns NULL only when memory is gone: all else was checked before. */
	assert(tree);
	return (struct json *)(void *)tree;
}

struct json *json_object_new(void)
{
	return tree_to(json_object());
}

struct json *json_array_new(void)
{
	return tree_to(json_array());
}

void json_free(struct json *j)
{
	json_decref(tree_from(j));
}

void json_cleanup(struct json **at)
{
	json_free(*at);
}

static void member_set(struct json *object, const char *name, json_t *value)
{
	int r = json_object_set_new(tree_from(object), name, value);

	assert(r == 0);
}

static void element_add(struct json *array, json_t *value)
{
	int r = json_array_append_new(tree_from(array), value);

	assert(r == 0);
}

/* A text value of bytes that may be anything. */
static json_t *text_make(struct str text)
{
	AUTO_BUF struct buf repaired = BUF_INIT(SIZE_MAX / 4);

	if (text.n == 0)
		return json_stringn("", 0);
	if (utf8_is_valid(text.p, text.n))
		return json_stringn(text.p, text.n);
	assert(text.n < SIZE_MAX / 16); /* so that 3 bytes for each fit */
	(void)utf8_repair(&repaired, text.p, text.n);
	return json_stringn(buf_get_cstr(&repaired), repaired.len);
}

void json_set_null(struct json *object, const char *name)
{
	member_set(object, name, json_null());
}

void json_set_bool(struct json *object, const char *name, bool value)
{
	member_set(object, name, json_boolean(value));
}

void json_set_integer(struct json *object, const char *name, int64_t value)
{
	member_set(object, name, json_integer(value));
}

void json_set_count(struct json *object, const char *name, uint64_t value)
{
	json_set_integer(object, name, (int64_t)MIN(value, (uint64_t)INT64_MAX));
}

void json_set_text(struct json *object, const char *name, struct str text)
{
	member_set(object, name, text_make(text));
}

void json_set_cstr(struct json *object, const char *name, const char *text)
{
	json_set_text(object, name, str_from(text));
}

void json_set_cstr_or_null(struct json *object, const char *name, const char *text)
{
	if (text[0])
		json_set_cstr(object, name, text);
	else
		json_set_null(object, name);
}

struct json *json_set_object(struct json *object, const char *name)
{
	json_t *child = json_object();

	member_set(object, name, child);
	return tree_to(child);
}

struct json *json_set_array(struct json *object, const char *name)
{
	json_t *child = json_array();

	member_set(object, name, child);
	return tree_to(child);
}

void json_add_text(struct json *array, struct str text)
{
	element_add(array, text_make(text));
}

struct json *json_add_object(struct json *array)
{
	json_t *child = json_object();

	element_add(array, child);
	return tree_to(child);
}

static int on_bytes(const char *bytes, size_t n, void *out)
{
	return buf_add(out, bytes, n);
}

int json_write(const struct json *j, struct buf *out)
{
	/* Values of ours always dump; what can fail is on_bytes. */
	return json_dump_callback(tree_from(j), on_bytes, out, JSON_COMPACT | JSON_ENCODE_ANY) < 0
		       ? -ENOBUFS
		       : 0;
}

static int on_count(const char *bytes, size_t n, void *count)
{
	(void)bytes;
	*(size_t *)count += n;
	return 0;
}

size_t json_measure(const struct json *j)
{
	size_t count = 0;

	(void)json_dump_callback(tree_from(j), on_count, &count, JSON_COMPACT | JSON_ENCODE_ANY);
	return count;
}

enum json_kind json_kind_get(const struct json *j)
{
	if (!j)
		return JSON_KIND_NULL;
	switch (json_typeof(tree_from(j))) {
	case JSON_OBJECT:
		return JSON_KIND_OBJECT;
	case JSON_ARRAY:
		return JSON_KIND_ARRAY;
	case JSON_STRING:
		return JSON_KIND_TEXT;
	case JSON_INTEGER:
		return JSON_KIND_INTEGER;
	case JSON_REAL:
		return JSON_KIND_REAL;
	case JSON_TRUE:
	case JSON_FALSE:
		return JSON_KIND_BOOL;
	case JSON_NULL:
		return JSON_KIND_NULL;
	}
	unreachable_();
}

static const struct json *borrow(json_t *tree)
{
	return (const struct json *)(void *)tree;
}

const struct json *json_get(const struct json *object, const char *name)
{
	return borrow(json_object_get(tree_from(object), name));
}

const struct json *json_at(const struct json *array, size_t i)
{
	return borrow(json_array_get(tree_from(array), i));
}

struct json *json_edit(struct json *object, const char *name)
{
	return (struct json *)(uintptr_t)json_get(object, name);
}

struct json *json_edit_at(struct json *array, size_t i)
{
	return (struct json *)(uintptr_t)json_at(array, i);
}

size_t json_size(const struct json *j)
{
	return json_object_size(tree_from(j)) + json_array_size(tree_from(j));
}

const struct json *json_member(const struct json *object, size_t i, struct str *ret_name)
{
	json_t *tree = tree_from(object);
	void *at = json_object_iter(tree);

	while (at && i-- > 0)
		at = json_object_iter_next(tree, at);
	if (!at)
		return NULL;
	*ret_name = str_from(json_object_iter_key(at));
	return borrow(json_object_iter_value(at));
}

int json_as_text(const struct json *j, struct str *ret)
{
	if (json_kind_get(j) != JSON_KIND_TEXT)
		return -EINVAL;
	*ret = (struct str){ .p = json_string_value(tree_from(j)),
		.n = json_string_length(tree_from(j)) };
	return 0;
}

int json_as_integer(const struct json *j, int64_t *ret)
{
	if (json_kind_get(j) != JSON_KIND_INTEGER)
		return -EINVAL;
	*ret = json_integer_value(tree_from(j));
	return 0;
}

int json_as_bool(const struct json *j, bool *ret)
{
	if (json_kind_get(j) != JSON_KIND_BOOL)
		return -EINVAL;
	*ret = json_is_true(tree_from(j));
	return 0;
}
