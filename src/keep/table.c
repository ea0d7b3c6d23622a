#include "keep/table.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare(const struct kept *kept, const char *tenant, const char *key)
{
	int order = strcmp(kept->head.tenant, tenant);

	return order != 0 ? order : strcmp(kept->head.key, key);
}

/* Index of the first that is not before the names. */
static size_t place_of(const struct kept_table *table, const char *tenant, const char *key)
{
	size_t low = 0, high = table->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(table->list[middle], tenant, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct kept *kept_find(const struct kept_table *table, const char *tenant, const char *key)
{
	size_t i = place_of(table, tenant, key);

	return i < table->n && compare(table->list[i], tenant, key) == 0 ? table->list[i] : NULL;
}

struct kept *kept_add(struct kept_table *table, const struct manifest_head *head)
{
	struct kept *kept = xcalloc(1, sizeof(*kept));
	size_t i = place_of(table, head->tenant, head->key);

	assert(!kept_find(table, head->tenant, head->key));
	if (table->n == table->cap) {
		table->cap = table->cap ? table->cap * 2 : 16;
		table->list = xrealloc(table->list, table->cap * sizeof(struct kept *));
	}
	memmove(table->list + i + 1, table->list + i, (table->n - i) * sizeof(struct kept *));
	table->list[i] = kept;
	table->n++;
	kept->head = *head;
	return kept;
}

void kept_remove(struct kept_table *table, struct kept *kept)
{
	size_t i = place_of(table, kept->head.tenant, kept->head.key);

	assert(i < table->n && table->list[i] == kept);
	table->n--;
	memmove(table->list + i, table->list + i + 1, (table->n - i) * sizeof(struct kept *));
	free(kept);
}

bool kept_is_broken(const struct kept_table *table, const char *name)
{
	for (size_t i = 0; i < table->n_broken; i++)
		if (strcmp(table->broken[i], name) == 0)
			return true;
	return false;
}

void kept_forget_broken(struct kept_table *table, const char *name)
{
	for (size_t i = 0; i < table->n_broken; i++)
		if (strcmp(table->broken[i], name) == 0) {
			memmove(table->broken[i], table->broken[--table->n_broken],
				STORE_NAME_SIZE);
			return;
		}
}

/* A set clock must not make a session older than the time between two looks at it, so its age is
 * taken once, here, and counted by the monotonic clock from then on. */
static void on_session(void *context, const char *name, const struct manifest_head *head, int error)
{
	struct kept_table *table = context;
	struct kept *kept;
	int64_t age_ns;

	if (error < 0) {
		log_error("msg=\"a stored session cannot be read\" name=%s", name);
		table->broken =
			xrealloc(table->broken, (table->n_broken + 1) * sizeof(table->broken[0]));
		(void)str_copy(table->broken[table->n_broken++], STORE_NAME_SIZE, name);
		return;
	}
	age_ns = MAX(clock_real_ns() - head->used_ns, (int64_t)0);
	kept = kept_add(table, head);
	kept->stopped = KEPT_STOPPED_RESTART;
	kept->used_at_us = (int64_t)clock_now_us() - age_ns / 1000;
}

int kept_table_load(struct kept_table *table, struct store *store)
{
	return store_scan(store, on_session, table);
}

void kept_table_fini(struct kept_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->list[i]);
	free(table->list);
	free(table->broken);
	*table = (struct kept_table){ .n = 0 };
}

size_t kept_heads(const struct kept_table *table, struct manifest_head **ret_heads)
{
	struct manifest_head *heads = xcalloc(table->n, sizeof(*heads));
	size_t n = 0;

	for (size_t i = 0; i < table->n; i++)
		if (table->list[i]->head.generation > 0)
			heads[n++] = table->list[i]->head;
	*ret_heads = heads;
	return n;
}
