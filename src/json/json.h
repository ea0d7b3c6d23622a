#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

/*
 * JSON values, read or built: the only user of jansson. A value is a tree that belongs to its root;
 * children are borrowed. Names are literals of ours. RFC 8259
 */

struct json;

enum json_kind {
	JSON_KIND_NULL,
	JSON_KIND_BOOL,
	JSON_KIND_INTEGER,
	JSON_KIND_REAL,
	JSON_KIND_TEXT,
	JSON_KIND_ARRAY,
	JSON_KIND_OBJECT,
};

/* `AUTO_JSON struct json *j = NULL;` frees the tree at the end of its scope. */
#define AUTO_JSON __attribute__((cleanup(json_cleanup)))

/* A new empty object or array; the caller owns it and frees it with json_free (NULL is fine). */
struct json *json_object_new(void);
struct json *json_array_new(void);
void json_free(struct json *j);
void json_cleanup(struct json **at);

/* Set a member of an object; one that is there is replaced. Text is bytes: what is not UTF-8
 * becomes U+FFFD (base/utf8.h). Integers over INT64_MAX, which JSON readers could not hold, become
 * that. */
void json_set_null(struct json *object, const char *name);
void json_set_bool(struct json *object, const char *name, bool value);
void json_set_integer(struct json *object, const char *name, int64_t value);
void json_set_count(struct json *object, const char *name, uint64_t value);
void json_set_text(struct json *object, const char *name, struct str text);
void json_set_cstr(struct json *object, const char *name, const char *text);
void json_set_cstr_or_null(struct json *object, const char *name, const char *text); /* "": null */

/* Set a member to a new empty object or array, borrowed from the parent. */
struct json *json_set_object(struct json *object, const char *name);
struct json *json_set_array(struct json *object, const char *name);

/* Append to an array; the object is borrowed from it. */
void json_add_text(struct json *array, struct str text);
struct json *json_add_object(struct json *array);

/* Appends the value as one line of UTF-8 without its newline, members in the order they were set.
 * Returns 0, or -ENOBUFS above the maximum of out, which then holds a part. */
int json_write(const struct json *j, struct buf *out);

/* How many bytes json_write appends. */
size_t json_measure(const struct json *j);

/* What a value is; NULL, as json_get gives for an absent member, is JSON_KIND_NULL. */
enum json_kind json_kind_get(const struct json *j);

/* The member of an object, NULL if it has none or is no object; the element of an array, NULL past
 * the end; the number of members or elements, else 0. All borrowed. */
const struct json *json_get(const struct json *object, const char *name);
const struct json *json_at(const struct json *array, size_t i);
size_t json_size(const struct json *j);

/* As json_get and json_at, of a value that one owns, to change what is there. */
struct json *json_edit(struct json *object, const char *name);
struct json *json_edit_at(struct json *array, size_t i);

/* Member i of an object in its order: the name is borrowed and never holds a NUL. Returns the
 * value, NULL past the end. Linear in i. */
const struct json *json_member(const struct json *object, size_t i, struct str *ret_name);

/* The value, when it is of that kind: 0, else -EINVAL. The text is UTF-8, borrowed. */
int json_as_text(const struct json *j, struct str *ret);
int json_as_integer(const struct json *j, int64_t *ret);
int json_as_bool(const struct json *j, bool *ret);
