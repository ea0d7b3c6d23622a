#pragma once

#include "store/manifest.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a session stopped whose jaild, or the whole service, has been started anew. */
#define KEPT_STOPPED_RESTART "restart"

/* Which kept sessions there are, active or stopped, sorted by tenant and key. The owner's lock
 * guards it. */

struct kept {
	struct manifest_head head; /* generation 0: nothing is stored yet */
	bool is_active;		   /* it has a home */
	bool is_saving;		   /* somebody writes to its files in the store */
	bool is_removing;
	const char *stopped; /* why, a literal; NULL while active */
	int64_t used_at_us;  /* of the monotonic clock; below 0: before the machine started */
};

struct kept_table {
	struct kept **list;
	size_t n, cap;
	/* Names of sessions in the store that cannot be read, so nobody knows whose they are. */
	char (*broken)[STORE_NAME_SIZE];
	size_t n_broken;
};

/* Fills an empty table from a store: store_scan. Returns 0 or -errno. */
int kept_table_load(struct kept_table *table, struct store *store);
void kept_table_fini(struct kept_table *table);

struct kept *kept_find(const struct kept_table *table, const char *tenant, const char *key);

/* Adds one, whose head is given; it is not there yet. Borrowed. */
struct kept *kept_add(struct kept_table *table, const struct manifest_head *head);

/* Takes it out and frees it. */
void kept_remove(struct kept_table *table, struct kept *kept);

/* True if the store has a session of this name which cannot be read. */
bool kept_is_broken(const struct kept_table *table, const char *name);
void kept_forget_broken(struct kept_table *table, const char *name);

/* The heads of all that are stored, as store_generations_write takes them. The caller frees the
 * list; returns their number. */
size_t kept_heads(const struct kept_table *table, struct manifest_head **ret_heads);
