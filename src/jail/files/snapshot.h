#pragma once

#include "base/str.h"
#include "wire/listing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a home held at one moment: the listing of jaild (wire/listing.h), sorted by path. */

struct extent_key;
struct jaild;

struct snapshot_entry {
	struct str path; /* bytes that a script chose: relative, not always UTF-8 */
	const struct listing_entry *is;
};

struct snapshot {
	void *data; /* the records that the entries point into; owned */
	size_t size;
	struct snapshot_entry *entries; /* sorted by the bytes of the path */
	size_t n;
	bool is_truncated; /* the home held more than a listing takes */
	uint32_t cut;	   /* why: enum listing_cut, as a set */
};

#define SNAPSHOT_INIT                                                                              \
	{                                                                                          \
		.data = NULL, .entries = NULL, .n = 0                                              \
	}

/* Reads the sealed memfd of a listing, size bytes; fd stays the caller's. Returns 0, -EBADMSG if it
 * is no listing, not sealed, or over the maxima of wire/listing.h, or -errno. */
int snapshot_load(int fd, uint64_t size, uint32_t cut, struct snapshot *ret_snapshot);

/* Asks jaild for the listing of a session's home and loads it: flags as in struct wire_list; key is
 * that of the hashes, NULL without WIRE_LIST_HASH. Returns 0, or -errno with jaild->fault. */
int snapshot_fetch(struct jaild *jaild, uint64_t session, uint32_t flags,
	const struct extent_key *key, struct snapshot *ret_snapshot);

/* Where a link points to, as the script wrote it; "" if that was not asked for. */
struct str snapshot_target(const struct snapshot_entry *entry);

/* Frees it; fine on SNAPSHOT_INIT. */
void snapshot_fini(struct snapshot *snapshot);

/* Compares two paths by their bytes, as memcmp does; a prefix comes first. */
int snapshot_compare(struct str a, struct str b);
