/*
 * Theory of operation: runs under way are a list, as there are no more than places and waiters; the
 * ended ones are a ring of ids. One mutex guards both. A cancel raises the run's attention under
 * it, which is a write to an eventfd that never blocks, so the attention cannot go away meanwhile:
 * runs_end takes the same mutex. The mutex is a leaf: nothing else is locked under it.
 */
#include "house/runs.h"

#include "base/alloc.h"
#include "base/str.h"
#include "house/attention.h"
#include "house/house.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct entry *next;
	struct attention *attention;
	char tenant[HOUSE_TENANT_MAX + 1];
	char id[HOUSE_RUN_ID_MAX + 1];
};

struct runs {
	pthread_mutex_t mutex;
	struct entry *first;	      /* under way */
	char *ended[RUNS_REMEMBERED]; /* "tenant\nid", owned; a tenant has no newline */
	size_t at;		      /* the oldest, which is replaced next */
};

struct runs *runs_new(void)
{
	struct runs *runs = xcalloc(1, sizeof(*runs));

	(void)pthread_mutex_init(&runs->mutex, NULL);
	return runs;
}

void runs_free(struct runs *runs)
{
	if (!runs)
		return;
	while (runs->first) {
		struct entry *next = runs->first->next;

		free(runs->first);
		runs->first = next;
	}
	for (size_t i = 0; i < RUNS_REMEMBERED; i++)
		free(runs->ended[i]);
	(void)pthread_mutex_destroy(&runs->mutex);
	free(runs);
}

bool runs_id_is_valid(const char *id)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t n = strlen(id);

	return n > 0 && n <= HOUSE_RUN_ID_MAX && strspn(id, allowed) == n;
}

static struct entry *find(const struct runs *runs, const char *tenant, const char *id)
{
	for (struct entry *at = runs->first; at; at = at->next)
		if (strcmp(at->id, id) == 0 && (!tenant || strcmp(at->tenant, tenant) == 0))
			return at;
	return NULL;
}

static bool has_ended(const struct runs *runs, const char *tenant, const char *id)
{
	for (size_t i = 0; i < RUNS_REMEMBERED && runs->ended[i]; i++) {
		const char *name = runs->ended[i];
		size_t n = (size_t)(strchr(name, '\n') - name);

		if (strcmp(name + n + 1, id) == 0 &&
			(!tenant || (strlen(tenant) == n && memcmp(name, tenant, n) == 0)))
			return true;
	}
	return false;
}

int runs_begin(struct runs *runs, const char *tenant, const char *id, struct attention *attention)
{
	struct entry *entry = xcalloc(1, sizeof(*entry));
	int r = 0;

	entry->attention = attention;
	if (str_copy(entry->tenant, sizeof(entry->tenant), tenant) < 0 ||
		str_copy(entry->id, sizeof(entry->id), id) < 0) {
		free(entry);
		return -ENAMETOOLONG;
	}
	(void)pthread_mutex_lock(&runs->mutex);
	if (find(runs, tenant, id) || has_ended(runs, tenant, id)) {
		r = -EEXIST;
	} else {
		entry->next = runs->first;
		runs->first = TAKE_PTR(entry);
	}
	(void)pthread_mutex_unlock(&runs->mutex);
	free(entry);
	return r;
}

void runs_end(struct runs *runs, const char *tenant, const char *id)
{
	struct entry *entry = NULL;
	char *name = xasprintf("%s\n%s", tenant, id), *forgotten;

	(void)pthread_mutex_lock(&runs->mutex);
	for (struct entry **at = &runs->first; *at; at = &(*at)->next)
		if (strcmp((*at)->id, id) == 0 && strcmp((*at)->tenant, tenant) == 0) {
			entry = *at;
			*at = entry->next;
			break;
		}
	forgotten = runs->ended[runs->at];
	runs->ended[runs->at] = name;
	runs->at = (runs->at + 1) % RUNS_REMEMBERED;
	(void)pthread_mutex_unlock(&runs->mutex);
	free(entry);
	free(forgotten);
}

int runs_cancel(struct runs *runs, const char *tenant, const char *id)
{
	struct entry *entry;
	int r = 0;

	(void)pthread_mutex_lock(&runs->mutex);
	entry = find(runs, tenant, id);
	if (entry)
		attention_raise(entry->attention, ATTENTION_CANCEL);
	else
		r = has_ended(runs, tenant, id) ? -EALREADY : -ENOENT;
	(void)pthread_mutex_unlock(&runs->mutex);
	return r;
}
