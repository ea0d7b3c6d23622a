#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a kept session consists of: whose it is, and each entry of its home. The bytes of files are
 * objects beside it (store/object.h). This is the form inside of the sealed file, and in memory.
 */

struct buf;

#define MANIFEST_TENANT_SIZE  65  /* with NUL */
#define MANIFEST_KEY_SIZE     129 /* with NUL; base/id.h */
#define MANIFEST_PROFILE_SIZE 32
#define MANIFEST_OBJECT_SIZE  16 /* random: never one twice */
#define MANIFEST_PATH_MAX     4095
/* More names than any sensible home has; the second bounds what a script can make us hold. */
#define MANIFEST_ENTRIES_MAX 70000
#define MANIFEST_SIZE_MAX    (16u * 1024 * 1024)

enum manifest_kind {
	MANIFEST_FILE,
	MANIFEST_FOLDER,
	MANIFEST_LINK, /* text: where it points to, as the script wrote it */
	MANIFEST_SAME, /* a further name of a file; text: its first name */
	MANIFEST_KIND_MAX
};

struct manifest_entry {
	char *path; /* relative; owned */
	char *text; /* owned, or NULL */
	enum manifest_kind kind;
	bool is_new;   /* its object was written after the last commit; in memory only */
	uint32_t mode; /* permission bits */
	int64_t mtime_ns;
	/* Of a file: */
	uint64_t size_bytes;   /* as the script sees it */
	uint64_t stored_bytes; /* of its object */
	uint64_t hash[2];      /* extent/extent.h */
	uint8_t object[MANIFEST_OBJECT_SIZE];
};

struct manifest_head {
	char tenant[MANIFEST_TENANT_SIZE];
	char key[MANIFEST_KEY_SIZE];
	char profile[MANIFEST_PROFILE_SIZE];
	uint64_t generation; /* counts commits, from 1 */
	int64_t created_ns;  /* of the real clock, as used_ns */
	int64_t used_ns;     /* at the last commit */
	uint64_t runs;
	bool is_live;	       /* its runs go on in one interpreter */
	uint64_t files;	       /* names of regular ones */
	uint64_t objects;      /* that they have */
	uint64_t files_bytes;  /* of all, as the script sees them */
	uint64_t stored_bytes; /* of all objects */
};

struct manifest {
	struct manifest_head head;
	struct manifest_entry *entries; /* sorted by the bytes of the path; owned */
	size_t n, cap;
};

#define MANIFEST_INIT                                                                              \
	{                                                                                          \
		.entries = NULL                                                                    \
	}

void manifest_fini(struct manifest *manifest);

/* Bytes of a head in the form. */
size_t manifest_head_size(void);

/* Reads the head alone, of exactly that many bytes. Returns 0 or -EBADMSG. */
int manifest_head_parse(const void *data, size_t size, struct manifest_head *ret_head);

/* Reads the whole: names that could lead out, come twice, or are out of order are refused, and
 * numbers that do not fit together. Returns 0 with *ret_manifest, which manifest_fini ends, or
 * -EBADMSG. */
int manifest_parse(const void *data, size_t size, struct manifest *ret_manifest);

/* Appends the form. Returns 0, or -E2BIG when it is over the maxima. Counts files, files_bytes and
 * stored_bytes anew. */
int manifest_format(struct manifest *manifest, struct buf *out);

/* The entry of a path, or NULL. */
struct manifest_entry *manifest_find(const struct manifest *manifest, struct str path);

/* Appends an entry, whose strings are taken over; the caller keeps the order. */
void manifest_append(struct manifest *manifest, const struct manifest_entry *entry);

/* Puts an entry where it belongs, strings taken over; what stood there is gone. */
void manifest_put(struct manifest *manifest, const struct manifest_entry *entry);

/* Takes away the entry at index i. */
void manifest_remove(struct manifest *manifest, size_t i);

/* True for a path as an entry may have one: relative, 1 to MANIFEST_PATH_MAX bytes, no empty, "."
 * or ".." part, none over 255 bytes, no NUL. */
bool manifest_path_is_valid(struct str path);

/* An entry that owns nothing of the other's. */
struct manifest_entry manifest_entry_copy(const struct manifest_entry *entry);
